//! Endpoints that name a network interface.

use crate::support::options;
use sealwire::{Error, Security, SocketType, Unusable};

#[test]
fn a_socket_is_bound_to_the_address_of_an_interface() {
    let endpoints = [
        "tcp://lo:*",
        #[cfg(feature = "ws")]
        "ws://lo:*/path",
    ];
    for endpoint in endpoints {
        let pull = options(SocketType::Pull).security(Security::plain_text());
        let pull = pull.build_blocking().unwrap();
        let bound = pull.bind(endpoint).unwrap();
        assert!(bound.to_string().contains("://127.0.0.1:"), "{bound}");
        let push = options(SocketType::Push).security(Security::plain_text());
        let push = push.build_blocking().unwrap();
        push.connect(&bound).unwrap();
        push.send("hello").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"hello");
    }
}

/// The text of an endpoint decides before any name is looked up.
#[test]
fn plain_text_is_refused_at_a_name_and_no_interface_is_no_address() {
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let refused = pull.bind("tcp://lo:*");
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoSecurity,
            ..
        })
    ));
    let pull = pull.options().unwrap().security(Security::plain_text());
    let pull = pull.build_blocking().unwrap();
    let missing = pull.bind("tcp://no-such-interface.invalid:*");
    assert!(matches!(missing, Err(Error::Bind { .. })), "{missing:?}");
}
