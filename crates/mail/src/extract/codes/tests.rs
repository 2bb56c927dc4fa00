//! Codes in plain text, in many languages, and what is none.

use super::super::{Body, Extracted, Limits, Sources, extract};

fn plain(text: &str) -> Extracted {
    let body = Body { part_id: "1", content: text };
    extract(&Sources { text: Some(body), ..Sources::default() }, &Limits::default())
}

#[track_caller]
fn check(text: &str, code: &str) {
    let found = plain(text);
    assert_eq!(found.code().one().map(|code| code.value.as_str()), Some(code), "{text}: {:?}", found.codes);
}

#[track_caller]
fn check_none(text: &str) {
    let found = plain(text);
    assert!(found.code().one().is_none(), "{text}: {:?}", found.codes);
}

#[test]
fn a_code_is_found_in_many_languages() {
    check("Your verification code is 482915.", "482915");
    check("Ihr Bestätigungscode lautet: 482915", "482915");
    check("Votre code de vérification est 482915.", "482915");
    check("Tu código de verificación es 482915", "482915");
    check("Seu código de verificação é 482915", "482915");
    check("Il tuo codice di verifica è 482915", "482915");
    check("Je verificatiecode is 482915", "482915");
    check("Din verifieringskod är 482915", "482915");
    check("Din bekræftelseskode er 482915", "482915");
    check("Din bekreftelseskode er 482915", "482915");
    check("Vahvistuskoodisi on 482915", "482915");
    check("Twój kod weryfikacyjny to 482915", "482915");
    check("Váš ověřovací kód je 482915", "482915");
    check("Az ellenőrző kódod: 482915", "482915");
    check("Codul tău de verificare este 482915", "482915");
    check("Вашият код за потвърждение е 482915", "482915");
    check("Ваш код подтверждения: 482915", "482915");
    check("Ваш код підтвердження: 482915", "482915");
    check("Ο κωδικός επαλήθευσης είναι 482915", "482915");
    check("Doğrulama kodunuz 482915", "482915");
    check("رمز التحقق الخاص بك هو 482915", "482915");
    check("رمز التحقق الخاص بك هو ٤٨٢٩١٥", "482915");
    check("קוד האימות שלך הוא 482915", "482915");
    check("کد تأیید شما ۴۸۲۹۱۵ است", "482915");
    check("आपका सत्यापन कोड 482915 है", "482915");
    check("รหัสยืนยันของคุณคือ 482915", "482915");
    check("Mã xác minh của bạn là 482915", "482915");
    check("Kode verifikasi Anda adalah 482915", "482915");
    check("認証コードは482915です", "482915");
    check("인증번호는 482915입니다.", "482915");
    check("您的验证码是482915，请勿泄露。", "482915");
    check("您的驗證碼為 482915。", "482915");
}

#[test]
fn shapes() {
    check("Your code: 4829", "4829");
    check("Your code: 482 915", "482915");
    check("Your code: 482-915", "482915");
    check("Your code: 4829 1567", "48291567");
    check("Your code:\n4 8 2 9 1 5", "482915");
    check("G-482915 is your verification code.", "G-482915");
    check("Enter the code A7K9QX to continue", "A7K9QX");
    check("Your code:\n\nQKV-WTB\n\nIt expires in 10 minutes.", "QKV-WTB");
    check("482915\n\n@shop.test #482915", "482915");
}

#[test]
fn other_numbers_are_none() {
    check_none("Your order 482915 is on its way.");
    check_none("Invoice no. 20482915 for your records");
    check_none("Kundennummer: 482915");
    check_none("Numéro de commande : 482915");
    check_none("订单号：482915");
    check_none("ご注文番号：482915");
    check_none("Use promo code SAVE20 for 20 % off");
    check_none("Código de descuento: VERANO25");
    check_none("Call us: +44 117 496 0142");
    check_none("Your code costs 4829 EUR or $4829");
    check_none("Your code is in https://shop.test/482915/code");
    check_none("Write to 482915@code.test");
    check_none("Version 4829.12 of the code, 12:4829");
    check_none("© 2026 Code Inc.");
    check_none("code_482915 and x482915");
    check_none("since 2019 we write code");
}

#[test]
fn the_better_of_two_is_taken() {
    check("Order 778812: your code is 482915.", "482915");
    check("Your code is 482915.\n\nOn Monday, Ann wrote:\n> Your code is 111222.", "482915");
}

#[test]
fn what_stands_around_a_code_does_not_hide_it() {
    check("Your PIN is 2024.", "2024");
    check("Your code: *482915*", "482915");
    check("Your code: **482915**", "482915");
    check("Your code (valid for 10 minutes): \"482915\"", "482915");
    check("Kodunuz: 482915'tir", "482915");
    check("A kódod: 482915-ös", "482915");
    check("Koodisi on 482915:n", "482915");
    check("【Shop】验证码：４８２９１５（10分钟内有效）", "482915");
    check("Dear customer, 482915 is your code.", "482915");
    check("Estimado cliente: 482915 es su código", "482915");
    check("Your code is k7m2p9, it is valid for 5 minutes", "k7m2p9");
    check("Your code:\n\nQKVWTB\n\nIt is valid for 5 minutes", "QKVWTB");
    check("To pay with card 4829 enter 778812. The code is valid for 5 minutes.", "778812");
}

#[test]
fn what_looks_like_a_code_beside_the_word_is_none() {
    check_none("Use your code with the card ending in •••• 4829");
    check_none("Our code of conduct was written in 2024.");
    check_none("In this release 48291 lines of code were changed by 1500 people.");
    check_none("Commit a1b2c3d changes the code.");
    check_none("VERIFY\nYour code is in the app.");
    check_none("Date: 20261114, see the code");
}
