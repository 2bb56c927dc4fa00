//! Digits and order.

use proptest::prelude::*;

use super::*;

#[test]
fn ids_are_13_digits() {
    for (number, digits) in [
        (0, "0000000000000"),
        (1, "0000000000001"),
        (31, "000000000000z"),
        (32, "0000000000010"),
        (u64::MAX, "fzzzzzzzzzzzz"),
    ] {
        assert_eq!(MessageId::new(number).to_string(), digits);
        assert_eq!(digits.parse(), Ok(MessageId::new(number)));
    }
}

#[test]
fn one_message_has_one_spelling() {
    for text in ["", "1", "000000000000", "00000000000000", "000000000000Z", "000000000000i", "gzzzzzzzzzzzz", "latest"]
    {
        assert_eq!(text.parse::<MessageId>(), Err(BadId), "{text}");
    }
    assert_eq!("000000000000é".parse::<MessageId>(), Err(BadId));
}

#[test]
fn transactions_are_32_digits() {
    assert_eq!(TransactionId::new(0xab).to_string(), "000000000000000000000000000000ab");
    assert_eq!(TransactionId::new(u128::MAX).to_string(), "f".repeat(32));
}

proptest! {
    #[test]
    fn t084_order_of_text_is_order_of_number(one: u64, two: u64) {
        let (one, two) = (MessageId::new(one), MessageId::new(two));
        prop_assert_eq!(one.to_string().cmp(&two.to_string()), one.number().cmp(&two.number()));
        prop_assert_eq!(one.cmp(&two), one.number().cmp(&two.number()));
    }

    #[test]
    fn t084_ids_round_trip(number: u64, transaction: u128) {
        prop_assert_eq!(MessageId::new(number).to_string().parse(), Ok(MessageId::new(number)));
        prop_assert_eq!(TransactionId::new(transaction).to_string(), format!("{transaction:032x}"));
    }

    #[test]
    fn parsing_is_total(text in "\\PC{0,16}|[0-9a-z]{13}") {
        if let Ok(id) = text.parse::<MessageId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}
