//! The libzmq peer, `zmq_peer.c`, with a libzmq that has its draft socket types. `main` is there.

#![no_main]
