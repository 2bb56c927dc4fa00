//! `[[…]]` in the file: lists of tables, each with the members that it may have. What a table means is told in the file of
//! its own kind.

use toml::de::{DeArray, DeTable, DeValue};

use super::report::{Mistake, Origin, shown};

/// A list of tables.
pub(super) struct List {
    /// What it is called, as `mailbox.route`.
    pub(super) name: &'static str,
    /// What each may have.
    pub(super) members: &'static [&'static str],
    /// So many there may be.
    pub(super) tables_max: usize,
}

impl List {
    /// Read all of them, each told of those before it; what is wrong goes to the mistakes.
    pub(super) fn read<T>(
        &self,
        items: &DeArray<'_>,
        origin: &dyn Fn(usize) -> Origin,
        mistakes: &mut Vec<Mistake>,
        one: impl Fn(&DeTable<'_>, Origin, &[T]) -> Result<T, String>,
    ) -> Vec<T> {
        let mut read = Vec::new();
        for item in items.iter() {
            let from = origin(item.span().start);
            let table = self.table(item.get_ref(), read.len());
            match table.and_then(|table| one(table, from.clone(), &read)) {
                Ok(one) => read.push(one),
                Err(text) => mistakes.push(Mistake { origin: Some(from), text }),
            }
        }
        read
    }

    /// The table that this is, if it may be there.
    fn table<'a, 'i>(&self, item: &'a DeValue<'i>, before: usize) -> Result<&'a DeTable<'i>, String> {
        let Self { name, members, tables_max } = self;
        if before >= *tables_max {
            return Err(format!("{name} is there more than {tables_max} times"));
        }
        let DeValue::Table(table) = item else {
            return Err(format!("{name} is a table; write [[{name}]] and its members below it"));
        };
        match table.iter().find(|(member, _)| !members.contains(&member.get_ref().as_ref())) {
            Some((other, _)) => {
                Err(format!("{name} has no {}; it takes {}", shown(other.get_ref()), members.join(", ")))
            }
            None => Ok(table),
        }
    }
}
