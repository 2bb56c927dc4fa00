//! REST v2 over the memory engine: lists and their pages, one message, mistakes, and its own description.

mod lists;
mod mistakes;
mod one;
mod openapi;
mod schema;

use super::{Answer, House, letter};
