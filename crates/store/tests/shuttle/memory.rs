//! The engine, without its unit tests: they are not for this lock.

#[path = "../../src/memory/debris.rs"]
mod debris;
#[path = "../../src/memory/engine.rs"]
mod engine;
#[path = "../../src/memory/folder.rs"]
mod folder;
#[path = "../../src/memory/jobs.rs"]
mod jobs;
#[path = "../../src/memory/kept.rs"]
mod kept;
#[path = "../../src/memory/lines.rs"]
mod lines;
#[path = "../../src/memory/log.rs"]
mod log;
#[path = "../../src/memory/records.rs"]
mod records;
#[path = "../../src/memory/settings.rs"]
mod settings;
#[path = "../../src/memory/state.rs"]
mod state;
#[path = "../../src/memory/views.rs"]
mod views;

pub use engine::Memory;
pub use settings::Settings;
