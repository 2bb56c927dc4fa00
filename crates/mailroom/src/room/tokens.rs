//! The verbs about tokens. Whoever issues one is an admin, and in open mode nobody is.

use std::sync::Arc;

use jiff::Timestamp;
use store::Expect;

use super::Mailroom;
use crate::access::tokens::{self, NAME_MAX};
use crate::access::{BadScope, Denial, Grant, Mode, Origin, Scopes, Target, Token, Verb};
use crate::caller::Caller;
use crate::error::{Error, Result};

/// How a token is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewToken {
    /// What people call it; may be empty.
    pub name: String,
    /// What it is good for.
    pub scopes: Scopes,
    /// Until when.
    pub expires: Option<Timestamp>,
}

/// A token that was issued: the only time that it is shown.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: Token,
    /// What is kept of it.
    pub grant: Arc<Grant>,
}

/// What became of a token that was to be revoked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Revoked {
    /// It is good for nothing any more.
    Done,
    /// There is none of this id.
    Unknown,
    /// It stands in the configuration, where it must be taken out.
    InFile,
}

impl Mailroom {
    /// Make a token that is good at once and on every node.
    pub async fn issue_token(&self, caller: &Caller, new: NewToken) -> Result<IssuedToken> {
        self.administers(caller, "to issue a token")?;
        if new.name.len() > NAME_MAX || new.name.contains(char::is_control) {
            return Err(Error::BadToken(format!("a token's name has up to {NAME_MAX} octets on one line")));
        }
        if new.expires.is_some_and(|expires| expires <= self.now()) {
            return Err(Error::BadToken("a token expires in the future, or never".to_owned()));
        }
        if self.access.tokens.count() >= self.access.rules.tokens_max {
            return Err(Error::TooMany { what: "tokens (access.tokens_max); revoke some" });
        }
        let token = Token::make()?;
        let mut grant = Grant::new(token.id().to_owned(), new.name, new.scopes, Origin::Issued);
        (grant.created, grant.expires) = (Some(self.now()), new.expires);
        let (id, value) = (grant.id.clone(), grant.write(&token.digest(), self.naming));
        let entry = self.put(tokens::KIND, id, value, grant.expires).await?;
        self.access.tokens.put(&entry);
        Ok(IssuedToken { grant: self.access.tokens.find(&token.digest()).unwrap_or_else(|| Arc::new(grant)), token })
    }

    /// All tokens that are good. None of them is shown.
    pub fn list_tokens(&self, caller: &Caller) -> Result<Vec<Arc<Grant>>> {
        self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.access.tokens.list(self.now()))
    }

    /// End a token, on every node.
    pub async fn revoke_token(&self, caller: &Caller, id: &str) -> Result<Revoked> {
        self.administers(caller, "to revoke a token")?;
        if self.access.tokens.is_configured(id) {
            return Ok(Revoked::InFile);
        }
        let went = self.vault.open(&self.program()?).registry().delete(tokens::KIND, id, Expect::Any).await?;
        self.access.tokens.remove(id);
        Ok(if went { Revoked::Done } else { Revoked::Unknown })
    }

    /// Scopes as they are written, where mailboxes are named as here.
    pub fn scopes(&self, texts: &[String]) -> Result<Scopes, BadScope> {
        Scopes::parse(texts.iter().map(String::as_str), self.naming)
    }

    /// Scopes as [`Mailroom::scopes`] takes them back.
    pub fn spelled_scopes(&self, scopes: &Scopes) -> Vec<String> {
        scopes.spelled(self.naming)
    }

    /// What outlives this mode needs one in which not everybody could write it.
    fn administers(&self, caller: &Caller, verb: &'static str) -> Result<()> {
        self.access.permit(caller, Verb::Admin, Target::All)?;
        match self.access.rules.mode {
            Mode::Open if *caller != Caller::Program => Err(Error::Denied(Denial::NotInOpenMode { verb })),
            _ => Ok(()),
        }
    }
}
