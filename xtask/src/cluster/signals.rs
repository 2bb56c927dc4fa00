//! Ctrl-C and SIGTERM as events, so that whoever has the cluster can end it in order.

use std::sync::mpsc::Sender;
use std::thread;

use anyhow::{Context, Result};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::Event;

/// Tell of every such signal from now on; none ends this process any more.
pub(super) fn listen(events: Sender<Event>) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build().context("cannot listen to signals")?;
    let (mut interrupt, mut terminate) = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if events.send(Event::Stop).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}
