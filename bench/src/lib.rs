//! What the load generators share: words of the command line, doors to dial with or without TLS, clients of SMTP, POP3
//! and HTTP that take any reply but the expected one for an error, and figures. It knows no server of ours but by what
//! the protocols say.

pub mod asked;
pub mod chance;
pub mod cpu;
pub mod door;
pub mod figures;
pub mod letter;
pub mod pop3;
pub mod rest;
pub mod site;
pub mod smtp;
pub mod sse;
pub mod tally;
pub mod tls;
pub mod wire;
pub mod work;

pub use asked::Asked;
pub use chance::Chance;
pub use door::{Door, Mode};
pub use site::Site;
pub use tally::Tally;
pub use wire::Wire;
pub use work::Work;
