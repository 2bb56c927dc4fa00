//! What speaks for a candidate and against it, and what each is worth. This is the whole table: the page for users is
//! printed from it, and the rules name these and nothing else.
//!
//! Points are added up. A code or link with 4 points is as likely right as wrong:
//! `confidence = 1 / (1 + e^((4 − points) / 1.2))`.

/// A reason, by the name that answers carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// As in `signals` of an answer.
    pub name: &'static str,
    /// Added to the score.
    pub points: i32,
    /// When it holds, for readers.
    pub holds: &'static str,
}

macro_rules! signals {
    ($(#[$about:meta])* $list:ident: $($id:ident $name:literal $points:literal $holds:literal;)*) => {
        $(pub(in crate::extract) const $id: &Signal = &Signal { name: $name, points: $points, holds: $holds };)*
        $(#[$about])*
        pub(super) const $list: &[&Signal] = &[$($id),*];
    };
}

/// Signals of codes.
pub(super) mod code {
    use super::Signal;

    signals! {
        /// All signals of codes.
        ALL:
        DIGITS6 "digits6" 2 "six digits";
        DIGITS "digits" 1 "four, five, seven or eight digits";
        SINGLES "singles" 4 "four to eight single characters, with blanks between them or in cells of their own";
        LOWER "lower" 0 "small letters and digits mixed";
        MIXED "mixed" 1 "five to ten capitals and digits mixed, perhaps with a hyphen";
        CAPITALS "capitals" -1 "capitals only, with too few vowels for a word";
        BOUND "domain-bound" 5 "a last line `@host #code`, as browsers read it";
        CUE "cue" 3 "a word for a code stands right beside it, or is the label of its block";
        NEAR "near" 2 "a word for a code stands in the block, just before it, or just behind it with the time it is valid";
        ASKED "asked" 1 "the block asks to enter, type or use it";
        ALONE "alone" 2 "nothing else stands in the block, nor beside it in the row of a table";
        STYLED "styled" 2 "larger, letter-spaced, monospaced, or a heading";
        BOLD "bold" 1 "bold, and not styled otherwise";
        SUBJECT "subject" 2 "stands in the subject";
        PARAMETER "parameter" 2 "is a parameter of the action link";
        COLON "colon" 1 "follows a colon";
        EXPIRY "expiry" 1 "a time in minutes or hours is given within three blocks";
        AGAIN "again" 1 "stands in the same part again";
        LABEL "label" -6 "a word for another number stands before it (order, invoice, customer, postcode …), here or wherever the same value stands; or `#`, `№`, or brackets in the subject around it";
        YEAR "year" -3 "from 1900 to 2099, or a date without marks; not if a word for a code stands right before it";
        FOOTER "footer" -3 "in the small print";
        ADDRESS "address" -3 "in a postal address";
        QUOTED "quoted" -3 "in a mail that is quoted";
        COLUMN "column" -3 "one of three or more alike, as in a column of a table";
        WORD "word" -3 "a word and a number, as `SAVE20`";
        HIDDEN "hidden" -4 "not visible";
    }
}

/// Signals of links.
pub(super) mod link {
    use super::Signal;

    signals! {
        /// All signals of links.
        ALL:
        DECLARED "declared" 5 "declared as an action, in JSON-LD or microdata";
        SHOWN "shown-as-text" 3 "the same address is also shown as text";
        LINE "own-line" 1 "in plain text, the only address on a line of its own";
        BUTTON "button" 3 "drawn as a box with padding and a fill";
        TOKEN "token" 2 "carries a random token: a UUID, a JWT, or 16 and more characters without a pattern";
        PATH "path" 2 "its path or a parameter says verify, reset, login or the like";
        VERB "verb" 1 "its text says so, in one of the languages known";
        ONLY "only" 1 "the only link outside of the small print";
        SENDER "sender" 1 "leads to the domain of the author";
        UNSUBSCRIBE "unsubscribe" -5 "ends a subscription or changes it";
        IDLE "idle" -5 "legal texts, help, a view in the browser; offers, articles";
        DECLINE "decline" -3 "undoes or reports what the mail is about";
        SOCIAL "social" -4 "a social network or a store of apps";
        ROOT "root" -4 "the start page of a site";
        FOOTER "footer" -3 "in the small print";
        QUOTED "quoted" -3 "in a mail that is quoted";
        HIDDEN "hidden" -2 "not visible";
    }
}

/// All signals of codes, in the order of the table for users.
pub const CODES: &[&Signal] = code::ALL;

/// All signals of links, in the order of the table for users.
pub const LINKS: &[&Signal] = link::ALL;
