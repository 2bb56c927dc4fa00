//! The suite that every engine passes, on three brokers, with mailboxes spread over shards.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use store::conformance::{Engine, Need, Rig};
use store::{Clock, Store};

use super::rig;
use crate::{Jetstream, Settings};

struct OnBrokers {
    opened: Mutex<Option<Settings>>,
}

impl OnBrokers {
    async fn open_on(&self, settings: Settings, rig: &Rig) -> Arc<dyn Store> {
        // The suite asks for every match; how many bodies are read by default is tried elsewhere.
        let (messages_max, retention) = (rig.messages_max, rig.retention);
        let settings = Settings { messages_max, retention, bodies_max: usize::MAX, ..settings };
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(settings.clone());
        let clock = Arc::clone(&rig.clock) as Arc<dyn Clock>;
        Arc::new(Jetstream::open(settings, clock).await.unwrap_or_else(|error| panic!("{error}")))
    }
}

#[async_trait]
impl Engine for OnBrokers {
    async fn open(&self, rig: &Rig) -> Arc<dyn Store> {
        let settings = rig::settings().expect("these tests are not passed over");
        self.open_on(settings, rig).await
    }

    async fn reopen(&self, store: Arc<dyn Store>, rig: &Rig) -> Arc<dyn Store> {
        drop(store);
        let settings = self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.open_on(settings.expect("it was open"), rig).await
    }

    fn absent(&self) -> Option<&'static str> {
        rig::cluster().is_none().then_some("POSTKEEP_NATS_SERVER is none")
    }

    fn lacks(&self) -> &'static [Need] {
        &[
            Need::BytesMax,
            Need::Evicts,
            Need::Refuses,
            // The brokers take lapsed mail away by their own clocks.
            Need::RoomByClock,
            Need::ChangesMax,
            Need::Recent,
            Need::Mailboxes,
            Need::PastOfAll,
        ]
    }
}

store::conformance_tests!(OnBrokers { opened: Mutex::new(None) });
