//! The words behind `with`.

use super::*;

#[test]
fn protocol_tells_door_tls_auth_and_utf8() {
    let check = |door, utf8, tls: bool, auth: bool, word: &str| {
        let transport = Transport {
            door,
            utf8,
            helo: "client.test".to_owned(),
            peer: None,
            tls: tls.then(|| "TLSv1.3".to_owned()),
            auth_user: auth.then(|| "jane".to_owned()),
        };
        assert_eq!(transport.protocol(), word);
    };
    check(Door::Smtp, false, false, false, "SMTP");
    check(Door::Esmtp, false, false, false, "ESMTP");
    check(Door::Esmtp, false, true, false, "ESMTPS");
    check(Door::Esmtp, false, false, true, "ESMTPA");
    check(Door::Esmtp, false, true, true, "ESMTPSA");
    check(Door::Esmtp, true, false, false, "UTF8SMTP");
    check(Door::Esmtp, true, true, false, "UTF8SMTPS");
    check(Door::Esmtp, true, false, true, "UTF8SMTPA");
    check(Door::Esmtp, true, true, true, "UTF8SMTPSA");
    check(Door::Lmtp, false, true, false, "LMTPS");
    check(Door::Lmtp, true, false, true, "UTF8LMTPA");
}
