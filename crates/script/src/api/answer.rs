//! What a handler can answer.

use mailroom::Verdict;
use mailroom::verdict::{Decision, Status};
use mlua::{Error, LuaString, MetaMethod, UserData, UserDataMethods, Value};

/// Bytes of a reply's text: with code and enhanced code it is one line of SMTP (RFC 5321 §4.5.3.1.5).
const TEXT_MAX: usize = 450;

/// An answer of a handler. Only functions of ours make one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// No opinion.
    Defer,
    /// Taken.
    Accept,
    /// Taken to all appearances.
    Discard,
    /// Not taken.
    Refuse(Status),
}

impl Answer {
    /// `refuse(code, text)`, both of them optional. A text may begin with an enhanced code.
    pub(crate) fn refuse(code: Option<f64>, text: Option<LuaString>) -> mlua::Result<Self> {
        let code = code.unwrap_or(550.0);
        if code.fract() != 0.0 || !(400.0..600.0).contains(&code) {
            return Err(Error::runtime("a code of a refusal is a number from 400 to 599, such as 550"));
        }
        let code = code as u16;
        let text = text.map_or_else(|| "Mail denied by policy".to_owned(), |text| line(&text.to_string_lossy()));
        let class = (code / 100) as u8;
        let (enhanced, text) = match enhanced(&text, class) {
            Some((enhanced, rest)) => (enhanced, rest.to_owned()),
            None => ((class, 7, 1), text),
        };
        Ok(Self::Refuse(Status { code, enhanced, text }))
    }

    /// As the mailroom takes it.
    pub(crate) fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Defer => None,
            Self::Accept => Some(Verdict::ACCEPT),
            Self::Discard => Some(Verdict::DISCARD),
            // A server that says 421 closes (RFC 5321 §3.8).
            Self::Refuse(status) => {
                let hang_up = status.code == 421;
                Some(Verdict { hang_up, ..Verdict::plain(Decision::Refuse(status)) })
            }
        }
    }

    /// What a handler has returned; none when it is no answer.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Defer),
            Value::UserData(answer) => answer.borrow::<Self>().ok().map(|answer| answer.clone()),
            _ => None,
        }
    }
}

impl UserData for Answer {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, answer, ()| {
            Ok(match answer {
                Self::Defer => "defer".to_owned(),
                Self::Accept => "accept".to_owned(),
                Self::Discard => "discard".to_owned(),
                Self::Refuse(Status { code, text, .. }) => format!("refuse {code} {text}"),
            })
        });
    }
}

/// One line: a text of a script must not end a reply and begin another (T100).
fn line(text: &str) -> String {
    let clean = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    let text = text.replace(clean, " ");
    let text = text.trim();
    text[..text.floor_char_boundary(TEXT_MAX)].trim_end().to_owned()
}

/// The enhanced code of RFC 3463 that a text begins with, if it is one of this class, and the rest.
fn enhanced(text: &str, class: u8) -> Option<((u8, u16, u16), &str)> {
    let (code, rest) = text.split_once(' ')?;
    let mut numbers = code.split('.');
    let mut number = || {
        let digits = numbers.next()?;
        let sound = (1..=3).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
        sound.then(|| digits.parse::<u16>().ok())?
    };
    let enhanced = (u8::try_from(number()?).ok()?, number()?, number()?);
    (numbers.next().is_none() && enhanced.0 == class).then(|| (enhanced, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: Option<f64>, text: &str) -> Status {
        let lua = mlua::Lua::new();
        match Answer::refuse(code, Some(lua.create_string(text).unwrap())).unwrap() {
            Answer::Refuse(status) => status,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn t100_a_reply_is_one_line() {
        let status = refused(Some(451.0), "wait\r\n250 ok\0\u{2028}and\u{85}more");
        assert_eq!((status.code, status.enhanced), (451, (4, 7, 1)));
        assert_eq!(status.text, "wait  250 ok  and more");
        assert!(refused(None, &"é".repeat(10_000)).text.len() <= TEXT_MAX);
    }

    #[test]
    fn a_text_may_begin_with_an_enhanced_code() {
        assert_eq!(
            refused(Some(550.0), "5.1.1 nobody"),
            Status { code: 550, enhanced: (5, 1, 1), text: "nobody".into() }
        );
        // Of another class it is text.
        assert_eq!(refused(Some(451.0), "5.1.1 nobody").text, "5.1.1 nobody");
        assert_eq!(refused(Some(550.0), "5.1.1.1 nobody").enhanced, (5, 7, 1));
    }

    #[test]
    fn codes_that_refuse_nothing_are_mistakes() {
        for code in [0.0, 250.0, 399.0, 600.0, 550.5, f64::NAN, f64::INFINITY, -550.0] {
            assert!(Answer::refuse(Some(code), None).is_err(), "{code}");
        }
    }
}
