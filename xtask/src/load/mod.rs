//! What every measurement needs: the server as a process, its memory and CPU, clients that send real mail, and figures.

pub(crate) mod chance;
pub(crate) mod cluster;
pub(crate) mod crowd;
pub(crate) mod figures;
pub(crate) mod folder;
pub(crate) mod http;
pub(crate) mod letters;
pub(crate) mod machine;
pub(crate) mod process;
pub(crate) mod server;
pub(crate) mod smtp;
pub(crate) mod tools;
