//! Letters whose outline is what matters: dots, blank lines, parts that are missing, ends of lines.

use super::Recipe;

pub(super) const RECIPES: &[Recipe] = &[
    ("dot-line", false, |draft| draft.ascii("before\r\n.\r\nafter\r\n")),
    ("dots", false, |draft| draft.ascii("..\r\n.x\r\n...\r\n....\r\nx.\r\n. \r\n.\r\n.\r\nend\r\n")),
    ("dot-begins-body", false, |draft| draft.ascii(".\r\nThe first line of the body is a dot.\r\n")),
    ("dot-ends-body", false, |draft| draft.ascii("The last line is a dot.\r\n.\r\n")),
    ("dot-is-all", false, |_| b".\r\n".to_vec()),
    ("empty-body", false, |draft| draft.ascii("")),
    ("header-alone", false, |draft| draft.head().into_bytes()),
    ("no-header", false, |_| b"\r\nOnly a body, behind an empty header.\r\n".to_vec()),
    ("nothing-of-both", false, |_| b"Neither a header nor an empty line stands before this text.\r\n".to_vec()),
    ("empty-message", false, |_| Vec::new()),
    ("blank-lines", false, |draft| draft.ascii("\r\n\r\nabove and below\r\n\r\n\r\n\r\n")),
    ("unterminated", false, |draft| draft.ascii("The last line has no end.\r\n.")),
    ("bare-lf", false, |draft| draft.ascii("A line\nends with LF alone.\r\n")),
];
