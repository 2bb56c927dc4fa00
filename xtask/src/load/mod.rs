//! What every measurement needs: the server as a process, its memory and CPU, clients that send real mail, and figures.

pub(crate) mod figures;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod server;
pub(crate) mod smtp;
