//! Memory for peers: little of it, and peers that announce much.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::system::{limited, start};
use crate::support::run;

/// A client of NULL that announces a frame of 60 MiB, sends a little of it, and stays.
fn announces_much(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let mut greeting = [0; 64];
    (greeting[0], greeting[9], greeting[10], greeting[11]) = (0xff, 0x7f, 3, 1);
    greeting[12..16].copy_from_slice(b"NULL");
    stream.write_all(&greeting).expect("it reads");
    let ready = b"\x05READY\x0bSocket-Type\0\0\0\x03REQ";
    let mut bytes = vec![4, ready.len() as u8];
    bytes.extend_from_slice(ready);
    bytes.push(2);
    bytes.extend_from_slice(&(60_u64 << 20).to_be_bytes());
    bytes.extend_from_slice(&[7; 5_000]);
    stream.write_all(&bytes).expect("it reads");
    // Its greeting: it has begun to read.
    stream.read_exact(&mut greeting).expect("a greeting");
    stream
}

#[test]
fn frames_that_are_announced_take_no_memory() {
    // 100 of these are 6 GB, and this is all the address space there is.
    let limits = "ulimit -v 2000000";
    let mut server = start(&mut limited(
        limits,
        &["rep", "-b", "tcp://127.0.0.1:0", "--echo"],
    ));
    let endpoint = server.endpoint();
    let address = endpoint.trim_start_matches("tcp://");
    let peers: Vec<_> = (0..100).map(|_| announces_much(address)).collect();
    let req = run(&["req", "-c", &endpoint, "-d", "hello", "-n", "3"]);
    assert_eq!(req.expect_code(0).text(), "hello\nhello\nhello\n");
    drop(peers);
    server.interrupt();
    server.finish().expect_code(0);
}
