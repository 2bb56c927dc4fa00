//! REST v2 over the memory engine: lists and their pages, one message, mistakes, and its own description.

mod deliver;
mod export;
mod lists;
mod mailboxes;
mod mistakes;
mod one;
mod openapi;
mod parts;
mod releases;
pub(super) mod schema;
mod searching;
mod table;

use super::{Answer, House, letter};
