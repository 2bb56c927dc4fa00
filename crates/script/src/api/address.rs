//! `address` of scripts for Inbucket: a name and an address, both of which can be written.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mail::Author;
use mlua::{Error, MetaMethod, UserData, UserDataFields, UserDataMethods, Value};

/// Shared by whoever holds it: to write `message.from.name` is to write the message's.
#[derive(Clone, Default)]
pub(crate) struct Person(Arc<Mutex<Author>>);

impl Person {
    pub(crate) fn new(name: &str, email: &str) -> Self {
        Self(Arc::new(Mutex::new(Author { name: name.to_owned(), email: email.to_owned() })))
    }

    pub(crate) fn of(author: Author) -> Self {
        Self(Arc::new(Mutex::new(author)))
    }

    pub(crate) fn author(&self) -> Author {
        self.held().clone()
    }

    fn held(&self) -> MutexGuard<'_, Author> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The person that a script hands in.
    pub(crate) fn read(value: &Value) -> mlua::Result<Self> {
        let wrong = || Error::runtime(format!("an address is wanted, not a {}", value.type_name()));
        match value {
            Value::UserData(person) => person.borrow::<Self>().map(|person| person.clone()).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl UserData for Person {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("name", |_, person| Ok(person.held().name.clone()));
        fields.add_field_method_get("address", |_, person| Ok(person.held().email.clone()));
        fields.add_field_method_set("name", |_, person, text: String| {
            person.held().name = text;
            Ok(())
        });
        fields.add_field_method_set("address", |_, person, text: String| {
            person.held().email = text;
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, _: Value| Ok(Value::Nil));
        methods.add_meta_method(MetaMethod::NewIndex, |_, _, (name, _): (String, Value)| -> mlua::Result<()> {
            Err(Error::runtime(format!("address has no field {name:?}; it has name and address")))
        });
        methods.add_meta_method(MetaMethod::ToString, |_, person, ()| Ok(person.held().display()));
    }
}
