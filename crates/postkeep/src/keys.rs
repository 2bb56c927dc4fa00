//! The file with the key that inboxes are made with: read, and made where it is ours to make.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use mailroom::access::Keys;

/// What it is called in the directory of a store.
pub(crate) const FILE: &str = "access.key";
/// No file of keys is larger.
const BYTES_MAX: u64 = 16 << 10;

/// Read a file that was named.
pub(crate) fn read(path: &Path) -> Result<Keys> {
    let told = || format!("access.key_file: cannot read {}", path.display());
    let file = File::open(path).with_context(told)?;
    text(file).with_context(told)
}

/// Read the file of a store, or make it when there is none: for its owner alone, and whole before anybody is told. Where
/// there is no room for it mail is served all the same, with a key for this start.
pub(crate) fn read_or_make(path: &Path) -> Result<Keys> {
    match File::open(path) {
        Ok(file) => text(file).with_context(|| format!("cannot read the key of inboxes in {}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let keys = Keys::make()?;
            if let Err(error) = keep(path, &keys) {
                tracing::error!("{error:#}; inboxes that are opened now are not known after the next start");
            }
            Ok(keys)
        }
        Err(error) => Err(error).with_context(|| format!("cannot open the key of inboxes in {}", path.display())),
    }
}

fn text(file: File) -> Result<Keys> {
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text)?;
    Ok(Keys::parse(&text)?)
}

fn keep(path: &Path, keys: &Keys) -> Result<()> {
    let told = || format!("cannot keep the key of inboxes in {}", path.display());
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // By another name first: half a key would be none at the next start.
    let draft = path.with_extension("key.new");
    let _ = std::fs::remove_file(&draft);
    let mut file = options.open(&draft).with_context(told)?;
    file.write_all(keys.text().as_bytes()).and_then(|()| file.sync_all()).with_context(told)?;
    std::fs::rename(&draft, path).with_context(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_store_is_made_once_and_for_its_owner_alone() {
        let folder = std::env::temp_dir().join(format!("postkeep-keys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(FILE);
        let made = read_or_make(&path).unwrap();
        assert_eq!(read_or_make(&path).unwrap(), made);
        assert_eq!(read(&path).unwrap(), made);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(read_or_make(&folder.join("none").join(FILE)).is_ok(), "there is no room for it");
        std::fs::write(&path, "not a key\n").unwrap();
        let told = format!("{:#}", read_or_make(&path).unwrap_err());
        assert!(told.contains("line 1 is not one") && told.contains("openssl rand -hex 32"), "{told}");
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(format!("{:#}", read(&path).unwrap_err()).starts_with("access.key_file: cannot read"));
    }
}
