//! Somebody who is away: an automatic response (RFC 3834), and when there is to be none.
//!
//! A responder of a person answers the same sender once in some days; this one each time, as every test wants its own.

use mail::{Address, Digest};

use super::{NoReport, Report, Taken, words};

impl Taken<'_> {
    /// From this recipient, unless the message is one that is not answered.
    pub(super) fn vacation(&self, sender: &Address, recipient: &Address, place: usize) -> Result<Report, NoReport> {
        self.is_answered(sender, recipient)?;
        let subject = match self.field("Subject") {
            Some(subject) if subject.is_ascii() => format!("Auto: {subject}"),
            _ => words(&format!("Auto: {}", Digest::of(self.raw).subject)),
        };
        let mut raw = self.head(&format!("<{recipient}>"), sender, &subject, place);
        raw.push_str(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n\
             I am out of the office, and will read your message when I am back.\r\n\r\n\
             This was sent by itself, as asked by the address.\r\n",
        );
        Ok(Report { what: format!("a note of absence went to {sender}"), raw: raw.into_bytes() })
    }

    /// RFC 3834 §2: neither what was sent by itself, nor lists, nor those who answer by themselves, nor who wrote to others.
    fn is_answered(&self, sender: &Address, recipient: &Address) -> Result<(), NoReport> {
        let of_program =
            |local: &str| local == "mailer-daemon" || local.starts_with("owner-") || local.ends_with("-request");
        if of_program(&sender.local().to_ascii_lowercase()) {
            return Err("no note of absence: the sender is a program by its name");
        }
        let wanted = recipient.to_string().to_lowercase();
        let mut is_named = false;
        for field in mail::header::fields(self.raw) {
            let name = field.name.to_ascii_lowercase();
            let value = field.text().trim().to_lowercase();
            match &*name {
                "auto-submitted" if !is_word(&value, "no") => {
                    return Err("no note of absence: the message was sent by itself (Auto-Submitted)");
                }
                "precedence" if ["bulk", "junk", "list"].contains(&&*value) => {
                    return Err("no note of absence: the message is bulk mail (Precedence)");
                }
                list if list.starts_with("list-") => {
                    return Err("no note of absence: the message is of a list (List-…)");
                }
                "to" | "cc" | "bcc" | "resent-to" | "resent-cc" | "resent-bcc" => is_named |= value.contains(&wanted),
                _ => {}
            }
        }
        if is_named { Ok(()) } else { Err("no note of absence: neither To nor Cc names the recipient") }
    }
}

/// Whether this is what stands before parameters and comments.
fn is_word(value: &str, word: &str) -> bool {
    value.split(|letter: char| matches!(letter, ';' | '(') || letter.is_whitespace()).next() == Some(word)
}
