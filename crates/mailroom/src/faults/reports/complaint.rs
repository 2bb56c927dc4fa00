//! A recipient who complains: a feedback report (RFC 5965), as large providers send them to those whose mail it is.

use mail::Address;

use super::{Report, Taken};

impl Taken<'_> {
    /// Of this recipient, of this type.
    pub(super) fn complaint(&self, sender: &Address, recipient: &Address, kind: &str, place: usize) -> Report {
        let from = format!("Feedback Loop <feedback@{}>", self.domain);
        let head = self.head(&from, sender, &format!("Complaint ({kind}) about your mail"), place);
        let date = mail::time::rfc5322(self.at);
        let text = format!(
            "This is a feedback report ({kind}) for a message that came on {date}.\r\n\r\n\
             Its recipient {recipient} asked for it by the address.\r\n"
        );
        let raw = self.multipart(
            head,
            "feedback-report",
            &text,
            ("message/feedback-report", &self.feedback(sender, recipient, kind)),
        );
        Report { what: format!("a complaint ({kind}) went to {sender}"), raw }
    }

    /// What RFC 5965 §3 knows of it.
    fn feedback(&self, sender: &Address, recipient: &Address, kind: &str) -> String {
        let mut fields = format!(
            "Feedback-Type: {kind}\r\nUser-Agent: Postkeep/{}\r\nVersion: 1\r\nOriginal-Mail-From: <{sender}>\r\n\
             Original-Rcpt-To: <{recipient}>\r\nArrival-Date: {}\r\nReporting-MTA: dns; {}\r\n",
            env!("CARGO_PKG_VERSION"),
            mail::time::rfc5322(self.at),
            self.domain,
        );
        if let Some(peer) = self.envelope.transport.peer {
            fields.push_str(&format!("Source-IP: {}\r\n", peer.to_canonical()));
        }
        fields.push_str(&format!("Reported-Domain: {}\r\nIncidents: 1\r\n", sender.domain()));
        fields
    }
}
