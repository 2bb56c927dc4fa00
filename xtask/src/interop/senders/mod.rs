//! Programs and libraries that applications send with.

mod built;
mod curl;
mod each;
mod go;
mod java;
mod lettre;
mod msmtp;
mod node;
mod python;
mod ruby;
mod script;
mod sendmail;
mod swaks;

use anyhow::Result;

use super::corpus::Letter;
use super::program::{Outcome, Program};
use super::site::Site;

pub(super) fn all() -> Vec<Box<dyn Program>> {
    vec![
        Box::new(msmtp::Msmtp),
        Box::new(swaks::Swaks),
        Box::new(curl::Curl),
        Box::new(sendmail::Sendmail),
        Box::new(python::smtplib()),
        Box::new(python::smtplib_email()),
        Box::new(python::aiosmtplib()),
        Box::new(node::nodemailer()),
        Box::new(go::net_smtp()),
        Box::new(java::jakarta_mail()),
        Box::new(ruby::net_smtp()),
        Box::new(lettre::lettre()),
    ]
}

/// What it means that a program says it could not send: either it is known that it cannot be done, or it is a defect.
fn unsent(site: &Site, letter: &Letter, said: &str, known: Option<&str>) -> Result<Outcome> {
    let kept = site.kept(letter)?.len();
    site.forget(letter)?;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if kept > 0 {
        return Ok(Outcome::Wrong(format!("it says that it failed, but {kept} were kept: {said}")));
    }
    if letter.has.bare && said.contains("521") {
        return Ok(Outcome::Unable("it sends a bare LF as it is, which Postkeep refuses in DATA with 521".into()));
    }
    if letter.has.utf8 && said.contains("5.6.7") {
        return Ok(Outcome::Unable(
            "it does not know SMTPUTF8, without which Postkeep refuses the address with 553".into(),
        ));
    }
    Ok(match known {
        Some(why) => Outcome::Unable(why.into()),
        None => Outcome::Wrong(format!("it could not send: {said}")),
    })
}
