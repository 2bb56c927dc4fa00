//! The parts of a message as a tree.

/// Levels of the tree. Parts that stand deeper are listed in the lowest level, and their names still tell their place:
/// readers of JSON give up at some depth.
pub const TREE_DEPTH_MAX: usize = 20;

/// One part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// Its place in the message: `0` for the whole of a multipart, else as `1.2`.
    pub part_id: String,
    /// Media type in lower case without parameters.
    pub content_type: String,
    /// What its octets are, whatever it is called; none when that is unknown.
    pub real_type: Option<&'static str>,
    /// The charset that it names.
    pub charset: Option<String>,
    /// The transfer encoding that was undone.
    pub encoding: Option<String>,
    /// Octets, transfer encoding undone; none for a multipart.
    pub size: Option<u64>,
    /// The file name that it gives, made safe.
    pub name: Option<String>,
    /// Content-ID without its brackets.
    pub cid: Option<String>,
    /// What a multipart holds.
    pub sub_parts: Vec<Part>,
}

impl Part {
    pub(super) fn bytes(&self) -> usize {
        let given = [&self.charset, &self.encoding, &self.name, &self.cid];
        let texts = given.into_iter().flatten().chain([&self.part_id, &self.content_type]);
        let own = size_of::<Self>() + texts.map(String::len).sum::<usize>();
        own + self.sub_parts.iter().map(Self::bytes).sum::<usize>()
    }
}

/// Makes the tree from parts in order of appearance.
#[derive(Default)]
pub(super) struct Tree {
    /// The multiparts that the next part may stand in, outermost first.
    open: Vec<Part>,
    root: Option<Part>,
}

impl Tree {
    /// Add a multipart; what follows deeper than it stands in it.
    pub(super) fn open(&mut self, depth: usize, part: Part) {
        self.rise(depth);
        if depth < TREE_DEPTH_MAX {
            self.open.push(part);
        } else {
            self.place(part);
        }
    }

    /// Add a part that holds content.
    pub(super) fn leaf(&mut self, depth: usize, part: Part) {
        self.rise(depth);
        self.place(part);
    }

    pub(super) fn finish(mut self) -> Part {
        self.rise(0);
        self.root.unwrap_or_default()
    }

    /// Close the multiparts that the next part does not stand in.
    fn rise(&mut self, depth: usize) {
        while self.open.len() > depth
            && let Some(part) = self.open.pop()
        {
            self.place(part);
        }
    }

    fn place(&mut self, part: Part) {
        match self.open.last_mut() {
            Some(outer) => outer.sub_parts.push(part),
            None => self.root = Some(part),
        }
    }
}
