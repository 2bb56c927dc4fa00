//! The suite that holds every engine to the same promises. An engine's tests call it with one line:
//!
//! ```ignore
//! store::conformance_tests!(MyEngine::for_tests());
//! ```
//!
//! which makes one test of each check. An engine says what it lacks; the checks that need it are then passed over, by
//! name, and where it lacks a call that call must answer `Unsupported`. The suite knows no engine, and never sleeps to
//! see whether something happens: it waits for what must come.

mod appending;
mod bounds;
mod changes;
mod corpus;
mod ids;
mod jobs;
mod lanes;
mod letter;
mod lists;
mod mailboxes;
mod races;
mod records;
mod removing;
mod searching;
mod table;
mod trial;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::{ManualClock, Store};

pub use letter::Letter;
pub use table::{NAMES, run};

/// An engine under test.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// An empty store, within the bounds of the rig and on its clock.
    async fn open(&self, rig: &Rig) -> Arc<dyn Store>;

    /// Stop a store as a crash would, and open what it left. Only asked of an engine that does not lack
    /// [`Need::Reopen`].
    async fn reopen(&self, store: Arc<dyn Store>, rig: &Rig) -> Arc<dyn Store> {
        drop(store);
        self.open(rig).await
    }

    /// Wait until what the engine does behind its calls, as the filling of an index, is done.
    async fn settle(&self, _store: &dyn Store) {}

    /// Why it cannot be tried here, if it cannot: then every check is passed over, and says so.
    fn absent(&self) -> Option<&'static str> {
        None
    }

    /// What it does not have.
    fn lacks(&self) -> &'static [Need];
}

/// What a store is made with. What an engine cannot be told it declares as lacking.
#[derive(Clone, Debug)]
pub struct Rig {
    /// Tells the time, unless the engine lacks [`Need::Clock`].
    pub clock: Arc<ManualClock>,
    /// Bytes of mail, in the engine's own measure, which may add to the size of messages.
    pub bytes_max: Option<u64>,
    /// Messages in a mailbox; 0: no bound.
    pub messages_max: usize,
    /// How long mail is kept.
    pub retention: Option<Duration>,
    /// Deletes and purges remembered, changes told anew, and changes that may wait for a slow reader.
    pub changes_max: Option<usize>,
}

/// What a check needs of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Time is what the rig's clock says.
    Clock,
    /// A bound on bytes can be set, and one message over it is refused.
    BytesMax,
    /// When the bytes are used up, old mail goes, fairly.
    Evicts,
    /// When the bytes are used up, new mail is refused.
    Refuses,
    /// What has lapsed by the rig's clock makes room under the cap at once.
    RoomByClock,
    /// The changes remembered can be bounded.
    ChangesMax,
    /// What was promised is there after a crash.
    Reopen,
    /// The call `recent`.
    Recent,
    /// The call `mailboxes`.
    Mailboxes,
    /// The call `changes` over all mailboxes tells what lies in the past; without it, it says that it lost that.
    PastOfAll,
}

/// One test for each check of the suite, on an engine. The tests' crate needs tokio with `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! conformance_tests {
    ($engine:expr) => {
        $crate::conformance_tests!(@each $engine;
            arrival_order newest_first_is_reversed pages_from_the_oldest pages_from_the_newest arrivals_shift_no_page
            limit_zero_is_empty total_is_the_number unknown_mailbox_is_empty read_is_exact summary_is_whole
            ids_belong_to_their_mailbox recent_is_newest_first recent_pages
            mailboxes_by_name mailboxes_by_prefix mailboxes_by_newest emptied_mailbox_is_not_listed
            what_is_lacking_is_said
            ids_ascend t084_ids_are_never_reused t084_ids_ascend_when_the_clock_steps_back t084_ids_ascend_over_reopening
            position_moves_with_every_change position_of_an_empty_mailbox_is_a_cursor list_tells_the_position
            append_reaches_every_mailbox same_message_twice_is_two copies_go_one_by_one refused_append_leaves_nothing
            t085_full_store_refuses_and_recovers dropped_append_is_all_or_nothing appended_mail_survives_reopening
            cap_drops_the_oldest cap_is_of_one_mailbox retention_hides_in_time retention_counts_from_receipt
            expiry_comes_before_retention expiry_does_not_outlive_retention lapsed_mail_leaves_every_view
            lapsed_mail_does_not_fill_the_cap age_and_cap_tell_nobody
            t023_flood_spares_other_mailboxes largest_mailbox_loses_first among_equals_the_oldest_goes
            newcomer_survives_its_own_arrival
            delete_names_what_was_there delete_leaves_the_others delete_of_nothing_is_silent
            purge_spares_what_came_later purge_to_the_end_empties purge_of_nothing_is_silent
            concurrent_appends_are_all_there concurrent_appends_to_several_mailboxes racing_deletes_have_one_winner
            racing_purge_loses_nothing_later racing_copies_keep_their_order
            changes_come_live_in_order changes_are_told_anew_after_a_position changes_have_no_gap_before_live
            changes_of_one_mailbox_only changes_of_all_mailboxes
            changes_of_all_from_the_past changes_from_the_end changes_reach_every_reader forgotten_changes_are_said
            quiet_mailbox_has_lost_nothing slow_reader_is_told dropped_streams_are_forgotten racing_changes_are_ordered
            records_are_kept records_are_put_if_expected record_versions_grow_over_deletes racing_puts_have_one_winner
            records_expire records_are_watched records_survive_reopening
            jobs_ride_with_mail jobs_are_taken_oldest_first jobs_wait_until_their_time jobs_come_back_after_their_lease
            late_handback_changes_nothing lapsed_lease_holds_until_retaken jobs_end_done_or_dead jobs_are_retried
            racing_takers_share_the_jobs jobs_survive_stops
            lanes_are_done_in_order lanes_wait_for_the_first lanes_of_other_kinds_are_others lanes_keep_their_order_over_stops
            racing_takers_keep_the_order_of_lanes many_lanes_and_a_long_one submitted_jobs_need_no_mail the_dead_come_back
            search_finds_newest_first search_keeps_to_its_scope search_keeps_to_its_budget search_goes_on_where_it_stopped
            search_keeps_to_its_span search_passes_over_what_is_too_large search_means_the_same_everywhere
            search_survives_reopening
            nobody_else_is_asked abilities_are_told
        );
    };
    (@each $engine:expr; $($check:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                $crate::conformance::run(&$engine, stringify!($check)).await;
            }
        )*

        #[test]
        fn every_check_of_the_suite_is_a_test() {
            assert_eq!(&[$(stringify!($check)),*][..], $crate::conformance::NAMES);
        }
    };
}
