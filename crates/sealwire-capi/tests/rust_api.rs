//! The C API and the Rust API talk to each other, either side being the server.

#![cfg(unix)]

use std::ffi::{CStr, CString, c_char};
use std::ptr::{from_mut, null, null_mut};
use std::slice;

use sealwire::auth::AllowedKeys;
use sealwire::{Generate as _, KeyPair, Security, SocketType, blocking::Socket};
use sealwire_c::auth::{
    sealwire_authenticator, sealwire_authenticator_allow, sealwire_authenticator_free,
    sealwire_authenticator_keys,
};
use sealwire_c::keys::{
    sealwire_keys, sealwire_keys_free, sealwire_keys_generate, sealwire_keys_public,
    sealwire_string_free,
};
use sealwire_c::message::{
    sealwire_message, sealwire_message_data, sealwire_message_free, sealwire_message_peer,
    sealwire_message_size,
};
use sealwire_c::peer::sealwire_peer_user_id;
use sealwire_c::security::{
    sealwire_security, sealwire_security_blake3_client, sealwire_security_blake3_server,
    sealwire_security_curve_client, sealwire_security_curve_server, sealwire_security_free,
};
use sealwire_c::socket::sending::sealwire_socket_send_bytes;
use sealwire_c::socket::{
    SEALWIRE_PULL, SEALWIRE_PUSH, SEALWIRE_WAIT, sealwire_socket, sealwire_socket_bind,
    sealwire_socket_connect, sealwire_socket_free, sealwire_socket_new, sealwire_socket_recv,
};
use sealwire_c::status::{SEALWIRE_OK, sealwire_status};

/// An object that the library made.
fn made<T>(make: impl FnOnce(*mut *mut T) -> sealwire_status) -> Box<T> {
    let mut object = null_mut();
    assert_eq!(make(from_mut(&mut object)), SEALWIRE_OK);
    // SAFETY: after success it is an object of the library's, and nobody else has it.
    unsafe { Box::from_raw(object) }
}

fn keys() -> (Box<sealwire_keys>, [u8; 32]) {
    let keys = made(|out| sealwire_keys_generate(out));
    let mut public = [0; 32];
    let status = sealwire_keys_public(Some(&keys), public.as_mut_ptr());
    assert_eq!(status, SEALWIRE_OK);
    (keys, public)
}

fn socket(kind: i32, security: &sealwire_security) -> Box<sealwire_socket> {
    made(|out| sealwire_socket_new(kind, Some(security), None, out))
}

fn received(socket: &sealwire_socket) -> (Vec<u8>, String) {
    let message: Box<sealwire_message> =
        made(|out| sealwire_socket_recv(Some(socket), SEALWIRE_WAIT, out));
    let size = sealwire_message_size(Some(&message));
    // SAFETY: the message is alive and has `size` bytes; so does its peer with its name,
    // which is a text with a zero octet at its end.
    let (bytes, name) = unsafe {
        let data = sealwire_message_data(Some(&message)).cast();
        let peer = sealwire_message_peer(Some(&message)).as_ref();
        let name = CStr::from_ptr(sealwire_peer_user_id(peer));
        (slice::from_raw_parts(data, size).to_vec(), name.to_owned())
    };
    sealwire_message_free(Some(message));
    (bytes, name.into_string().unwrap())
}

type MakeServer = extern "C" fn(
    Option<&sealwire_keys>,
    Option<&sealwire_authenticator>,
    *mut *mut sealwire_security,
) -> sealwire_status;

fn c_serves<S: Into<Security>>(
    make: MakeServer,
    client: impl Fn(sealwire::PublicKey, KeyPair) -> S,
) {
    let (server_keys, server_key) = keys();
    let alice = KeyPair::generate();
    let mut allowed: Box<sealwire_authenticator> = made(|out| sealwire_authenticator_keys(out));
    let public = *alice.public().as_bytes();
    let status =
        sealwire_authenticator_allow(Some(&mut allowed), public.as_ptr(), c"alice".as_ptr());
    assert_eq!(status, SEALWIRE_OK);
    let security = made(|out| make(Some(&server_keys), Some(&allowed), out));
    let pull = socket(SEALWIRE_PULL, &security);
    let mut bound: *mut c_char = null_mut();
    let status = sealwire_socket_bind(Some(&pull), c"tcp://127.0.0.1:0".as_ptr(), &mut bound);
    assert_eq!(status, SEALWIRE_OK);
    // SAFETY: after success it is a text of the library's, until it is freed below.
    let endpoint = unsafe { CStr::from_ptr(bound) }.to_str().unwrap();

    let server_key = sealwire::PublicKey::from_bytes(server_key).unwrap();
    let push = Socket::builder(SocketType::Push)
        .security(client(server_key, alice))
        .build_blocking()
        .unwrap();
    push.connect(endpoint).unwrap();
    push.send("from Rust").unwrap();
    assert_eq!(received(&pull), (b"from Rust".to_vec(), "alice".to_owned()));

    sealwire_string_free(bound);
    sealwire_socket_free(Some(pull));
    sealwire_security_free(Some(security));
    sealwire_authenticator_free(Some(allowed));
    sealwire_keys_free(Some(server_keys));
}

type MakeClient = extern "C" fn(
    *const u8,
    Option<&sealwire_keys>,
    *mut *mut sealwire_security,
) -> sealwire_status;

fn rust_serves<S: Into<Security>>(make: MakeClient, server: impl Fn(KeyPair, AllowedKeys) -> S) {
    let server_keys = KeyPair::generate();
    let (alice, alice_key) = keys();
    let alice_key = sealwire::PublicKey::from_bytes(alice_key).unwrap();
    let allowed = AllowedKeys::new().allow_as(alice_key, "alice");
    let pull = Socket::builder(SocketType::Pull)
        .security(server(server_keys.clone(), allowed))
        .build_blocking()
        .unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap().to_string();

    let server_key = *server_keys.public().as_bytes();
    let security = made(|out| make(server_key.as_ptr(), Some(&alice), out));
    let push = socket(SEALWIRE_PUSH, &security);
    let endpoint = CString::new(endpoint).unwrap();
    let status = sealwire_socket_connect(Some(&push), endpoint.as_ptr());
    assert_eq!(status, SEALWIRE_OK);
    let text = b"from C";
    let status =
        sealwire_socket_send_bytes(Some(&push), text.as_ptr().cast(), text.len(), SEALWIRE_WAIT);
    assert_eq!(status, SEALWIRE_OK);
    let message = pull.recv().unwrap();
    assert_eq!(message.as_bytes(), text);
    assert_eq!(message.peer().unwrap().user_id(), Some("alice"));
    // A missing argument is reported, here as in C.
    assert_ne!(make(null(), Some(&alice), null_mut()), SEALWIRE_OK);

    sealwire_socket_free(Some(push));
    sealwire_security_free(Some(security));
    sealwire_keys_free(Some(alice));
}

#[test]
fn blake3() {
    c_serves(
        sealwire_security_blake3_server,
        Security::blake3_client_with_keys,
    );
    rust_serves(sealwire_security_blake3_client, Security::blake3_server);
}

#[test]
fn curve() {
    c_serves(sealwire_security_curve_server, Security::curve_client);
    rust_serves(sealwire_security_curve_client, Security::curve_server);
}
