//! Paths, EHLO names and mailbox names: what is taken comes back as it was meant, and never with a control character.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::address::{self, Address, Charset, Path};
use mail::{Mailbox, Naming};

fuzz_target!(|input: &[u8]| {
    for charset in [Charset::Ascii, Charset::Utf8] {
        if let Ok((Path::Address(address), rest)) = address::path(input, charset) {
            assert!(rest.is_empty() || rest[0] == b' ');
            check_address(&address, charset);
        }
    }
    if let Ok(name) = address::helo(input) {
        assert!(!name.is_empty() && name.len() <= 255 && name.bytes().all(|byte| byte.is_ascii_graphic()));
        assert_eq!(address::helo(name.as_bytes()), Ok(name));
    }
    if let Ok(name) = std::str::from_utf8(input) {
        for naming in [Naming::Local, Naming::Full, Naming::Domain] {
            if let Ok(mailbox) = naming.named(name) {
                check_mailbox(naming, &mailbox);
            }
        }
    }
});

fn check_address(address: &Address, charset: Charset) {
    let written = address.to_string();
    assert!(!written.contains(char::is_control));
    assert!(charset == Charset::Utf8 || written.is_ascii());
    assert_eq!(Address::parse(&written, charset).as_ref(), Ok(address));
    let path = format!("<{written}> X");
    assert_eq!(address::path(path.as_bytes(), charset), Ok((Path::Address(address.clone()), &b" X"[..])));
    for naming in [Naming::Local, Naming::Full, Naming::Domain] {
        if let Ok(mailbox) = naming.mailbox(address) {
            assert_eq!(naming.named(&written).as_ref(), Ok(&mailbox));
            check_mailbox(naming, &mailbox);
        }
    }
}

/// A mailbox is found again by the name it is shown with.
fn check_mailbox(naming: Naming, mailbox: &Mailbox) {
    assert!(!mailbox.as_str().is_empty() && !mailbox.as_str().contains(char::is_control));
    assert_eq!(naming.named(&naming.spelling(mailbox)).as_ref(), Ok(mailbox));
}
