//! Listening: both families, shared ports, Unix sockets.

use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::net::TcpStream;

use super::*;

fn places(texts: &[&str]) -> Vec<Place> {
    texts.iter().map(|text| Place::parse(text)).collect()
}

#[tokio::test]
async fn one_address_for_both_families() {
    let listener = Listener::bind(&Place::parse("[::]:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    for ip in [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)] {
        let (dialled, (_, peer)) = tokio::join!(TcpStream::connect((ip, port)), listener.accept());
        dialled.unwrap();
        assert_eq!(peer, Some(ip), "an IPv4 client is known by its IPv4 address");
    }
}

#[tokio::test]
async fn both_families_by_name_share_a_port() {
    let free = Listener::bind(&Place::parse("0.0.0.0:0")).unwrap().local_addr().unwrap().port();
    let (v4, v6) = (format!("0.0.0.0:{free}"), format!("[::]:{free}"));
    for order in [[&*v4, &*v6], [&*v6, &*v4]] {
        assert_eq!(Listener::bind_all(&places(&order), SOCKET_MODE).unwrap().len(), 2, "{order:?}");
    }
}

#[cfg(unix)]
mod unix_sockets {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::PathBuf;

    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("postkeep-{}-{name}.sock", std::process::id()))
    }

    #[tokio::test]
    async fn a_socket_is_made_and_goes() {
        let path = path("goes");
        let listener = Listener::bind(&Place::Unix(path.clone())).unwrap();
        assert_eq!(listener.local().unwrap(), format!("unix:{}", path.display()));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o660);
        let open = Listener::bind_all(&[Place::Unix(path.with_extension("open"))], 0o666).unwrap();
        assert_eq!(path.with_extension("open").metadata().unwrap().permissions().mode() & 0o777, 0o666);
        drop(open);
        let (dialled, (_, peer)) = tokio::join!(tokio::net::UnixStream::connect(&path), listener.accept());
        dialled.unwrap();
        assert_eq!(peer, None);
        drop(listener);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_socket_left_from_a_crash_makes_room_and_a_live_one_does_not() {
        let path = path("crash");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let before = path.metadata().unwrap().ino();
        let listener = Listener::bind(&Place::Unix(path.clone())).unwrap();
        assert!(path.exists() && path.metadata().unwrap().ino() != before || path.exists());
        let error = Listener::bind(&Place::Unix(path.clone())).unwrap_err().to_string();
        assert!(error.contains("another program listens there"), "{error}");
        drop(listener);
    }

    #[tokio::test]
    async fn a_file_that_is_no_socket_stays() {
        let path = path("file");
        std::fs::write(&path, "mine").unwrap();
        let error = Listener::bind(&Place::Unix(path.clone())).unwrap_err().to_string();
        assert!(error.contains("no socket"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        std::fs::remove_file(path).unwrap();
    }
}
