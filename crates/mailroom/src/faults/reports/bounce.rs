//! A message that could not be delivered after all, or not yet: a delivery status notification (RFC 3464).

use mail::Address;

use super::{Report, Taken, typed};
use crate::faults::act::enhanced;

impl Taken<'_> {
    /// For all these recipients at once. A status of class 4 is a delay, of class 5 the end.
    pub(super) fn bounce(&self, sender: &Address, bounced: &[(&Address, (u8, u16, u16))]) -> Report {
        let is_final = bounced.iter().any(|(_, status)| status.0 == 5);
        let subject =
            if is_final { "Undelivered Mail Returned to Sender" } else { "Delayed Mail (still being retried)" };
        let from = format!("Mail Delivery System <mailer-daemon@{}>", self.domain);
        let head = self.head(&from, sender, subject, 0);
        let text = self.bounce_text(bounced);
        let status = self.delivery_status(bounced);
        let machine = if status.is_ascii() { "message/delivery-status" } else { "message/global-delivery-status" };
        let raw = self.multipart(head, "delivery-status", &text, (machine, &status));
        let statuses: Vec<String> = bounced.iter().map(|(_, status)| enhanced(*status)).collect();
        Report { what: format!("a bounce ({}) went to {sender}", statuses.join(", ")), raw }
    }

    fn bounce_text(&self, bounced: &[(&Address, (u8, u16, u16))]) -> String {
        let mut text = format!(
            "This is the mail system at {}.\r\n\r\nThe message that is returned below was taken, and then not delivered:\r\n\
             its recipients asked for it by their addresses.\r\n",
            self.domain
        );
        for (address, status) in bounced {
            text.push_str(&format!("\r\n<{address}>: {}\r\n", diagnostic(*status)));
        }
        text
    }

    /// Fields of the message, and behind an empty line those of each recipient.
    fn delivery_status(&self, bounced: &[(&Address, (u8, u16, u16))]) -> String {
        let (domain, date) = (self.domain, mail::time::rfc5322(self.at));
        let mut status = format!("Reporting-MTA: dns; {domain}\r\nArrival-Date: {date}\r\n");
        for (address, code) in bounced {
            let action = if code.0 == 5 { "failed" } else { "delayed" };
            status.push_str(&format!(
                "\r\nFinal-Recipient: {}\r\nAction: {action}\r\nStatus: {}\r\nRemote-MTA: dns; {domain}\r\n\
                 Diagnostic-Code: smtp; {}\r\nLast-Attempt-Date: {date}\r\n",
                typed(address),
                enhanced(*code),
                diagnostic(*code),
            ));
        }
        status
    }
}

/// What a mail server would have said.
fn diagnostic(status: (u8, u16, u16)) -> String {
    let code = if status.0 == 5 { 550 } else { 451 };
    format!("{code} {} As asked by the address", enhanced(status))
}
