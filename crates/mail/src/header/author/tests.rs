//! The short way and the long way agree. What they make of fields is tested with the summary.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn the_short_way_leads_where_the_long_one_does(value in "[A-Za-z.'-]{0,6}( [A-Za-z]{1,6}){0,2} ?<?[a-z0-9.+_-]{1,8}@[a-zA-Z0-9._-]{1,12}>?") {
        if let Some(author) = plain(&value) {
            prop_assert_eq!(Some(author), all(&value).next(), "{}", value);
        }
    }

    #[test]
    fn the_short_way_is_never_wrong(value in "[a-z@<>\",:;()\\[\\]. =?]{0,30}") {
        if let Some(author) = plain(&value) {
            prop_assert_eq!(Some(author), all(&value).next(), "{}", value);
        }
    }
}

#[test]
fn most_fields_go_the_short_way() {
    for value in ["jane@host.test", "<jane@host.test>", "Jane Doe <jane@host.test>", "J. O'Hara<j@h>"] {
        assert!(plain(value).is_some(), "{value}");
    }
}
