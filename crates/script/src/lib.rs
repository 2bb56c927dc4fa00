//! Luau scripts that act on mail: the mailroom's hooks, in a sandbox with a deadline.
