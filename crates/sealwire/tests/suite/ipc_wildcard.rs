//! `ipc://*`: a socket of a name that is made up, where nobody else can reach it.
#![cfg(unix)]

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::support::{eventually, options};
use sealwire::{Endpoint, EndpointError, Error, SocketType};

fn path(endpoint: &Endpoint) -> PathBuf {
    match endpoint {
        Endpoint::Ipc(path) => path.clone(),
        other => panic!("{other} is not ipc"),
    }
}

#[test]
fn a_wildcard_makes_a_socket_that_only_this_user_can_reach() {
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let bound = pull.bind("ipc://*").unwrap();
    let other = pull.bind("ipc://*").unwrap();
    assert_ne!(bound, other);
    assert!(!Path::new("*").exists());
    let directory = path(&bound).parent().unwrap().to_owned();
    let mode = directory.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let file = path(&bound).symlink_metadata().unwrap().file_type();
    assert!(file.is_socket());
    for endpoint in [&bound, &other] {
        let push = options(SocketType::Push).build_blocking().unwrap();
        push.connect(endpoint.to_string()).unwrap();
        push.send("hello").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"hello");
    }
    // Nothing is left of it.
    pull.unbind(bound).unwrap();
    eventually("the directory is gone", || !directory.exists());
    assert!(path(&other).exists());
    pull.close().unwrap();
    let directory = path(&other).parent().unwrap().to_owned();
    eventually("the other directory is gone", || !directory.exists());
}

#[test]
fn nobody_connects_to_a_wildcard() {
    let push = options(SocketType::Push).build_blocking().unwrap();
    let refused = push.connect("ipc://*");
    assert!(matches!(
        refused,
        Err(Error::Endpoint(EndpointError::Wildcard(_)))
    ));
}

/// Every transport refuses an endpoint that was made without parsing when it is used.
#[test]
fn endpoints_made_by_hand_are_checked_where_they_are_used() {
    let (host, port) = ("127.0.0.1\r\nX: y".to_owned(), 1);
    let path = "/\r\nX: y".to_owned();
    let loopback = || "127.0.0.1".to_owned();
    for endpoint in [
        Endpoint::Tcp {
            host: host.clone(),
            port,
        },
        Endpoint::Ws {
            host: host.clone(),
            port,
            path: "/".to_owned(),
        },
        Endpoint::Ws {
            host: loopback(),
            port,
            path,
        },
        Endpoint::Udp {
            interface: Some(host.clone()),
            host: loopback(),
            port,
        },
        Endpoint::Ipc("a\nb".into()),
        Endpoint::IpcAbstract("a\nb".into()),
        Endpoint::Inproc("a\nb".into()),
    ] {
        let socket_type = match endpoint {
            Endpoint::Udp { .. } => SocketType::Dish,
            _ => SocketType::Pair,
        };
        let socket = options(socket_type).build_blocking().unwrap();
        for refused in [
            socket.bind(endpoint.clone()).map(drop),
            socket.connect(endpoint.clone()),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, Error::Endpoint(_)), "{endpoint:?}: {error}");
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }
}
