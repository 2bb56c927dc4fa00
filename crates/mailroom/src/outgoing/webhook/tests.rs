//! Which jobs are written with what, and whether they can be read again.

use super::*;
use crate::stub;
