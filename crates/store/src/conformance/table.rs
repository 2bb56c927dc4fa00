//! Every check with what it needs, and how one is run.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::trial::Trial;
use super::{Engine, Need};
use super::{appending, bounds, changes, ids, jobs, lanes, lists, mailboxes, races, records, removing, searching};

struct Check {
    name: &'static str,
    needs: &'static [Need],
    run: for<'a> fn(&'a Trial<'a>) -> BoxFuture<'a, ()>,
}

macro_rules! checks {
    ($($room:ident :: $name:ident [$($need:ident)*])*) => {
        const CHECKS: &[Check] = &[$(Check {
            name: stringify!($name),
            needs: &[$(Need::$need),*],
            run: |trial| $room::$name(trial).boxed(),
        }),*];

        /// The names of all checks.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

checks! {
    lists::arrival_order []
    lists::newest_first_is_reversed []
    lists::pages_from_the_oldest []
    lists::pages_from_the_newest []
    lists::arrivals_shift_no_page []
    lists::limit_zero_is_empty []
    lists::total_is_the_number []
    lists::unknown_mailbox_is_empty []
    lists::read_is_exact []
    lists::summary_is_whole []
    lists::ids_belong_to_their_mailbox []
    lists::recent_is_newest_first [Recent]
    lists::recent_pages [Recent]
    mailboxes::mailboxes_by_name [Mailboxes]
    mailboxes::mailboxes_by_prefix [Mailboxes]
    mailboxes::mailboxes_by_newest [Mailboxes]
    mailboxes::emptied_mailbox_is_not_listed [Mailboxes]
    mailboxes::what_is_lacking_is_said []
    ids::ids_ascend []
    ids::t084_ids_are_never_reused []
    ids::t084_ids_ascend_when_the_clock_steps_back [Clock]
    ids::t084_ids_ascend_over_reopening [Reopen]
    ids::position_moves_with_every_change []
    ids::position_of_an_empty_mailbox_is_a_cursor []
    ids::list_tells_the_position []
    appending::append_reaches_every_mailbox []
    appending::same_message_twice_is_two []
    appending::copies_go_one_by_one []
    appending::refused_append_leaves_nothing [BytesMax]
    appending::t085_full_store_refuses_and_recovers [BytesMax Refuses]
    appending::dropped_append_is_all_or_nothing []
    appending::appended_mail_survives_reopening [Reopen]
    bounds::cap_drops_the_oldest []
    bounds::cap_is_of_one_mailbox []
    bounds::retention_hides_in_time [Clock]
    bounds::retention_counts_from_receipt [Clock]
    bounds::expiry_comes_before_retention [Clock]
    bounds::expiry_does_not_outlive_retention [Clock]
    bounds::lapsed_mail_leaves_every_view [Clock]
    bounds::lapsed_mail_does_not_fill_the_cap [Clock RoomByClock]
    bounds::age_and_cap_tell_nobody [Clock]
    bounds::t023_flood_spares_other_mailboxes [BytesMax Evicts]
    bounds::largest_mailbox_loses_first [BytesMax Evicts]
    bounds::among_equals_the_oldest_goes [BytesMax Evicts]
    bounds::newcomer_survives_its_own_arrival [BytesMax Evicts]
    removing::delete_names_what_was_there []
    removing::delete_leaves_the_others []
    removing::delete_of_nothing_is_silent []
    removing::purge_spares_what_came_later []
    removing::purge_to_the_end_empties []
    removing::purge_of_nothing_is_silent []
    races::concurrent_appends_are_all_there []
    races::concurrent_appends_to_several_mailboxes []
    races::racing_deletes_have_one_winner []
    races::racing_purge_loses_nothing_later []
    races::racing_copies_keep_their_order []
    changes::changes_come_live_in_order []
    changes::changes_are_told_anew_after_a_position []
    changes::changes_have_no_gap_before_live []
    changes::changes_of_one_mailbox_only []
    changes::changes_of_all_mailboxes []
    changes::changes_of_all_from_the_past []
    changes::changes_from_the_end []
    changes::changes_reach_every_reader []
    changes::forgotten_changes_are_said [ChangesMax]
    changes::quiet_mailbox_has_lost_nothing [ChangesMax]
    changes::slow_reader_is_told [ChangesMax]
    changes::dropped_streams_are_forgotten []
    changes::racing_changes_are_ordered []
    records::records_are_kept []
    records::records_are_put_if_expected []
    records::record_versions_grow_over_deletes []
    records::racing_puts_have_one_winner []
    records::records_expire [Clock]
    records::records_are_watched []
    records::records_survive_reopening [Reopen]
    jobs::jobs_ride_with_mail []
    jobs::jobs_are_taken_oldest_first []
    jobs::jobs_wait_until_their_time [Clock]
    jobs::jobs_come_back_after_their_lease [Clock]
    jobs::late_handback_changes_nothing [Clock]
    jobs::lapsed_lease_holds_until_retaken [Clock]
    jobs::jobs_end_done_or_dead []
    jobs::jobs_are_retried [Clock]
    jobs::racing_takers_share_the_jobs []
    jobs::jobs_survive_stops [Reopen Clock]
    lanes::lanes_are_done_in_order []
    lanes::lanes_wait_for_the_first [Clock]
    lanes::lanes_of_other_kinds_are_others []
    lanes::lanes_keep_their_order_over_stops [Reopen Clock]
    lanes::racing_takers_keep_the_order_of_lanes []
    lanes::many_lanes_and_a_long_one []
    lanes::submitted_jobs_need_no_mail []
    lanes::the_dead_come_back [Clock]
    searching::search_finds_newest_first []
    searching::search_keeps_to_its_scope []
    searching::search_keeps_to_its_budget []
    searching::search_goes_on_where_it_stopped []
    searching::search_keeps_to_its_span []
    searching::search_passes_over_what_is_too_large []
    searching::search_means_the_same_everywhere []
    searching::search_survives_reopening [Reopen]
    mailboxes::nobody_else_is_asked []
    mailboxes::abilities_are_told []
}

/// Run one check by its name on an engine; panics where the engine falls short.
#[allow(clippy::print_stdout, reason = "a test that was passed over says so in its output")]
pub async fn run(engine: &dyn Engine, name: &str) {
    let check = CHECKS.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check is called {name}"));
    if let Some(why) = engine.absent() {
        println!("passed over: {why}");
        return;
    }
    if let Some(need) = check.needs.iter().find(|need| engine.lacks().contains(need)) {
        println!("passed over: this engine lacks {need:?}");
        return;
    }
    (check.run)(&Trial::new(engine)).await;
}
