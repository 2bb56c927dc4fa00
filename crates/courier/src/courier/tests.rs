//! The round on a mailroom in memory.
