//! What is taken for a name and a password.

use super::*;

#[test]
fn plain_is_a_name_and_a_password_behind_nuls() {
    let read = |text: &str| plain(text.as_bytes()).map(|(user, secret)| (user, secret.text().into_owned()));
    let pair = |user: &str, secret: &str| Some((user.to_owned(), secret.to_owned()));
    assert_eq!(read("\0app\0secret"), pair("app", "secret"));
    assert_eq!(read("for\0app\0"), pair("app", ""));
    assert_eq!(read("\0ünï\0pä ss"), pair("ünï", "pä ss"));
    for bad in ["", "app", "\0app", "\0\0secret", "\0a\0b\0c", "\0a\r\nb\0c"] {
        assert_eq!(read(bad), None, "{bad:?}");
    }
    assert!(plain(b"\0\xff\0x").is_none());
    assert!(plain(&[b"\0", &[b'a'; 256][..], b"\0x"].concat()).is_none());
}
