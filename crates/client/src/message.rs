//! A message as the API hands it out: what stands in a list, and all of it. Which code or link is meant, [`crate::pick`]
//! decides.

use std::time::SystemTime;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Client, mailbox_path};
use crate::error::Error;
use crate::http::Ask;
use crate::pick;
use crate::text::{maybe_time, quoted, time};

/// A message as lists show it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// Its id in the mailbox; later messages have greater ones.
    pub id: String,
    /// The mailbox that it lies in.
    pub mailbox: String,
    /// When the server took it.
    #[serde(deserialize_with = "time")]
    pub received_at: SystemTime,
    /// Bytes.
    pub size: u64,
    /// What SMTP said; none where the server does not show it.
    #[serde(default)]
    pub envelope: Option<Envelope>,
    /// Who stands in From first.
    #[serde(default)]
    pub from: Option<Person>,
    /// Decoded; may be empty.
    #[serde(default)]
    pub subject: String,
    #[serde(skip)]
    json: Value,
}

/// A whole message, its codes and links included.
///
/// ```
/// # let json = r#"{"id":"1","mailbox":"alice","receivedAt":"2026-11-14T09:30:00Z","size":4821,"subject":"Your code",
/// #  "text":"Your code is 884 201","codes":[{"value":"884201","raw":"884 201","confidence":0.99}]}"#;
/// # let mail: postkeep_client::Message = serde_json::from_str(json).unwrap();
/// assert_eq!(mail.subject, "Your code");
/// assert_eq!(mail.code()?, "884201");
/// assert_eq!(mail.codes[0].raw, "884 201");
/// assert!(mail.link().unwrap_err().to_string().contains("has no link"));
/// # Ok::<(), postkeep_client::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// Its id in the mailbox; later messages have greater ones.
    pub id: String,
    /// The mailbox that it lies in.
    pub mailbox: String,
    /// When the server took it.
    #[serde(deserialize_with = "time")]
    pub received_at: SystemTime,
    /// Bytes.
    pub size: u64,
    /// What SMTP said; none where the server does not show it.
    #[serde(default)]
    pub envelope: Option<Envelope>,
    /// Who stands in From first.
    #[serde(default)]
    pub from: Option<Person>,
    /// Decoded; may be empty.
    #[serde(default)]
    pub subject: String,
    /// Who stands in To.
    #[serde(default)]
    pub to: Vec<Person>,
    /// Who stands in Cc.
    #[serde(default)]
    pub cc: Vec<Person>,
    /// Who stands in Bcc, which a sender seldom leaves in.
    #[serde(default)]
    pub bcc: Vec<Person>,
    /// Who stands in Reply-To.
    #[serde(default)]
    pub reply_to: Vec<Person>,
    /// Without its angle brackets.
    #[serde(default)]
    pub message_id: Option<String>,
    /// What Date says.
    #[serde(default, deserialize_with = "maybe_time")]
    pub sent_at: Option<SystemTime>,
    /// The text; rendered from the HTML where there is no text part.
    #[serde(default)]
    pub text: String,
    /// `plain` or `html`: where the text comes from.
    #[serde(default)]
    pub text_source: String,
    /// The HTML as it was sent.
    #[serde(default)]
    pub html: Option<String>,
    /// Which members were too long and end early.
    #[serde(default)]
    pub truncated: Vec<String>,
    /// Every field in its order.
    #[serde(default)]
    pub headers: Vec<Header>,
    /// Files that came with it.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// What may be a code, best first.
    #[serde(default)]
    pub codes: Vec<Code>,
    /// Links in their order.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Where its MIME is broken.
    #[serde(default)]
    pub defects: Vec<String>,
    /// Where a person can look at it.
    #[serde(default)]
    pub url: Option<String>,
    #[serde(skip)]
    json: Value,
    #[serde(skip)]
    client: Option<Client>,
}

/// The envelope: what SMTP said, which may differ from the header.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Envelope {
    /// The sender; empty for a bounce.
    #[serde(default)]
    pub mail_from: Option<String>,
    /// The recipients that led to this mailbox.
    #[serde(default)]
    pub rcpt_to: Vec<String>,
}

/// Somebody in a header.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[non_exhaustive]
pub struct Person {
    /// The name beside the address.
    #[serde(default)]
    pub name: Option<String>,
    /// The address.
    #[serde(default)]
    pub email: String,
}

/// A field of the header, unfolded and decoded.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// As it was written.
    pub name: String,
    /// What stands behind the colon.
    pub value: String,
}

/// A file that came with a message.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Attachment {
    /// Which part of the message it is.
    pub part_id: String,
    /// Its name, if it has one.
    #[serde(default)]
    pub name: Option<String>,
    /// Its media type.
    #[serde(default, rename = "type")]
    pub content_type: String,
    /// Bytes, decoded.
    #[serde(default)]
    pub size: u64,
    /// Of its bytes, in hexadecimal digits.
    #[serde(default)]
    pub sha256: String,
    /// Its Content-ID, by which HTML shows it.
    #[serde(default)]
    pub cid: Option<String>,
}

/// Something that looks like a code to type in.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Code {
    /// What to type.
    pub value: String,
    /// As it was written, such as `884 201`.
    #[serde(default)]
    pub raw: String,
    /// From 0 to 1.
    #[serde(default)]
    pub confidence: f64,
    /// The words around it.
    #[serde(default)]
    pub snippet: String,
    /// What speaks for it.
    #[serde(default)]
    pub signals: Vec<String>,
}

/// A link.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Link {
    /// As it was sent.
    pub href: String,
    /// What a reader sees.
    #[serde(default)]
    pub text: String,
    /// What it is for.
    #[serde(default)]
    pub kind: Kind,
    /// Whether it is what the mail wants its reader to press.
    #[serde(default)]
    pub action: bool,
    /// From 0 to 1.
    #[serde(default)]
    pub confidence: f64,
    /// What speaks for it.
    #[serde(default)]
    pub signals: Vec<String>,
}

/// What a link is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// To confirm an address.
    Verify,
    /// To set a new password.
    Reset,
    /// To sign in without one.
    MagicLogin,
    /// To get no more of it.
    Unsubscribe,
    /// Something else.
    #[default]
    #[serde(other)]
    Other,
}

impl Kind {
    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Reset => "reset",
            Self::MagicLogin => "magic-login",
            Self::Unsubscribe => "unsubscribe",
            Self::Other => "other",
        }
    }
}

impl Summary {
    pub(crate) fn read(json: Value) -> Result<Self, String> {
        let summary = Self::deserialize(&json).map_err(|error| error.to_string())?;
        Ok(Self { json, ..summary })
    }

    /// As the server sent it.
    pub fn json(&self) -> &Value {
        &self.json
    }
}

impl Message {
    pub(crate) fn read(json: Value, client: &Client) -> Result<Self, String> {
        let message = Self::deserialize(&json).map_err(|error| error.to_string())?;
        Ok(Self { json, client: Some(client.clone()), ..message })
    }

    /// As the server sent it.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The code in it, if exactly one is meant.
    pub fn code(&self) -> Result<&str, Error> {
        pick::code(self).map(|code| code.value.as_str())
    }

    /// The link that the mail wants its reader to press.
    pub fn link(&self) -> Result<&str, Error> {
        pick::link(self, None).map(|link| link.href.as_str())
    }

    /// The link of this kind.
    pub fn link_of(&self, kind: Kind) -> Result<&str, Error> {
        pick::link(self, Some(kind)).map(|link| link.href.as_str())
    }

    /// The value of the first field of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value.as_str())
    }

    /// The bytes of the attachment of this name.
    pub async fn attachment(&self, name: &str) -> Result<Bytes, Error> {
        let found = self.attachments.iter().find(|attachment| attachment.name.as_deref() == Some(name));
        let attachment = found.ok_or_else(|| Error::Missing(self.no_attachment(name)))?;
        self.fetch(&format!("/parts/{}", crate::client::encoded(&attachment.part_id))).await
    }

    /// The message as it was sent, byte for byte, below the trace fields of the server.
    pub async fn source(&self) -> Result<Bytes, Error> {
        self.fetch("/source").await
    }

    async fn fetch(&self, below: &str) -> Result<Bytes, Error> {
        let nowhere = || Error::misuse("this message came from no server");
        let client = self.client.as_ref().ok_or_else(nowhere)?;
        let path = mailbox_path(&self.mailbox, &format!("/messages/{}{below}", crate::client::encoded(&self.id)));
        Ok(client.call(|| Ask::get(path.clone())).await?.good()?.body)
    }

    fn no_attachment(&self, name: &str) -> String {
        let names: Vec<_> =
            self.attachments.iter().filter_map(|attachment| attachment.name.as_deref()).map(quoted).collect();
        let there = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        format!("the mail {} has no attachment {}; {there}", quoted(&self.subject), quoted(name))
    }
}
