//! The account at the CA: registered once, its key kept, found again at every start.

use instant_acme::{Account, AccountCredentials, NewAccount};

use crate::client::Client;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::settings::Settings;

/// The file with the account's URL and key.
pub(crate) const FILE: &str = "account.json";

/// The kept account, or a new one.
pub(crate) async fn find(settings: &Settings, folder: &Folder, client: &Client) -> Result<Account, Failure> {
    let Some(bytes) = folder.read(FILE)? else { return register(settings, folder, client).await };
    let damaged = |error: serde_json::Error| Failure::Account { path: folder.at(FILE), what: error.to_string() };
    let credentials: AccountCredentials = serde_json::from_slice(&bytes).map_err(damaged)?;
    let account = Account::builder_with_http(Box::new(client.clone())).from_credentials(credentials).await;
    account.map_err(|error| Failure::of(error, &settings.directory, "the account"))
}

/// A new account in the place of any other. The terms were agreed to: without that nobody comes here.
pub(crate) async fn register(settings: &Settings, folder: &Folder, client: &Client) -> Result<Account, Failure> {
    let contact = settings.email.as_ref().map(|email| format!("mailto:{email}"));
    let contact: Vec<_> = contact.iter().map(String::as_str).collect();
    let wanted =
        NewAccount { contact: &contact, terms_of_service_agreed: settings.terms_agreed, only_return_existing: false };
    let builder = Account::builder_with_http(Box::new(client.clone()));
    let created = builder.create(&wanted, settings.directory.clone(), None).await;
    let (account, credentials) = created.map_err(|error| Failure::of(error, &settings.directory, "a new account"))?;
    let text = serde_json::to_vec_pretty(&credentials).expect("credentials are plain text fields");
    folder.write(FILE, &text)?;
    Ok(account)
}
