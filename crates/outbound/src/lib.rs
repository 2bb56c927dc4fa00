//! The one HTTP client for everything that leaves the process; which addresses it may dial.
