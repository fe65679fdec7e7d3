//! Certificates that take each other's place.

use super::{change, exchange};
use crate::support::authority::Authority;
use crate::support::{await_event, options};
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Event, FailureCause, SocketType, TlsError, Unusable};

fn client(endpoint: &Endpoint, authority: &Authority) -> Socket {
    let client = options(SocketType::Dealer).tls_trust(authority.trust());
    let client = client.build_blocking().unwrap();
    client.connect(endpoint).unwrap();
    client
}

#[test]
fn who_comes_later_is_shown_the_new_certificate() {
    let [old, new] = [(); 2].map(|()| Authority::new());
    let server = options(SocketType::Router).tls_identity(old.identity());
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("wss://127.0.0.1:*").unwrap();
    let before = client(&endpoint, &old);
    exchange(&server, &before, "before");
    change(&server, &endpoint, Withdrawn::End, |it| {
        it.tls_identity(new.identity())
    });
    let after = client(&endpoint, &new);
    exchange(&server, &after, "after");
    let late = client(&endpoint, &old);
    await_event(&late.monitor(), "it is not trusted", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Tls(TlsError::UnknownAuthority) => Some(()),
            other => panic!("{other}"),
        },
        _ => None,
    });
    // A certificate says who the server is as the connection begins; no key of its was withdrawn.
    exchange(&server, &before, "on");
    assert_eq!(server.counters().disconnects, 0);
}

#[test]
fn an_endpoint_cannot_lose_its_certificate() {
    let authority = Authority::new();
    let server = options(SocketType::Router).tls_identity(authority.identity());
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("wss://127.0.0.1:*").unwrap();
    let without = options(SocketType::Router);
    let without = server.reconfigure_endpoint(&endpoint, without, Withdrawn::Stay);
    let Err(sealwire::Error::UnusableEndpoint { reason, .. }) = without else {
        panic!("{without:?}");
    };
    assert_eq!(reason, Unusable::NoTlsIdentity);
}
