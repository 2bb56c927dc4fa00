//! lettre with raw octets: `send_raw`.

use std::fs;

use lettre::address::Envelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Address, SmtpTransport, Transport};
use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Fallible<()> {
    let path = std::env::args().nth(1).ok_or("the path of a job is missing")?;
    let job: Value = serde_json::from_slice(&fs::read(path)?)?;
    for letter in job["letters"].as_array().ok_or("a job has letters")? {
        let told = match send(&job, letter) {
            Ok(()) => json!({ "sent": true }),
            Err(error) => json!({ "failed": error.to_string() }),
        };
        println!("{told}");
    }
    Ok(())
}

fn send(job: &Value, letter: &Value) -> Fallible<()> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (from, to): (Address, Address) = (text(&letter["from"]).parse()?, text(&letter["to"]).parse()?);
    let raw = fs::read(text(&letter["file"]))?;
    transport(job)?.send_raw(&Envelope::new(Some(from), vec![to])?, &raw)?;
    Ok(())
}

fn transport(job: &Value) -> Fallible<SmtpTransport> {
    let text = |key: &str| job[key].as_str().unwrap_or_default().to_owned();
    let trust = Certificate::from_pem(&fs::read(text("trust"))?)?;
    let parameters = TlsParameters::builder(text("host")).add_root_certificate(trust).build_rustls()?;
    let tls = match text("transport").as_str() {
        "tls" => Tls::Wrapper(parameters),
        "starttls" => Tls::Required(parameters),
        _ => Tls::None,
    };
    let port = job["port"].as_u64().and_then(|port| u16::try_from(port).ok()).ok_or("a job has a port")?;
    let builder = SmtpTransport::builder_dangerous(text("host")).port(port).tls(tls);
    let signed_in = if job["user"].is_null() {
        builder
    } else {
        builder.credentials(Credentials::new(text("user"), text("secret")))
    };
    Ok(signed_in.build())
}
