//! What sockets do as libzmq's.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use sealwire::{Frame, SocketType};

use super::{DONTWAIT, Socket};
use crate::context::Context;
use crate::errno::Errno;

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

fn open(context: &Arc<Context>, socket_type: SocketType) -> Arc<Socket> {
    context.open(socket_type).unwrap()
}

fn send(socket: &Socket, text: &str) -> Result<(), Errno> {
    let sent = socket.send(Frame::copy_from_slice(text.as_bytes()), DONTWAIT);
    sent.map_err(|(error, _)| error)
}

/// Ends a context, unless that takes too long.
fn terminate(context: Arc<Context>) {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || done.send(context.terminate()));
    assert_eq!(ended.recv_timeout(TIMEOUT), Ok(Ok(())));
}

#[test]
fn what_was_sent_before_anybody_bound_waits_for_that_and_holds_up_no_end() {
    let context = Arc::new(Context::new());
    for endpoint in ["inproc://later", "inproc://never"] {
        let push = open(&context, SocketType::Push);
        push.connect(endpoint).unwrap();
        send(&push, endpoint).unwrap();
        push.close();
    }
    let pull = open(&context, SocketType::Pull);
    pull.bind("inproc://later").unwrap();
    let part = pull.receive(DONTWAIT).unwrap();
    assert_eq!(part.as_bytes(), b"inproc://later");
    pull.close();
    terminate(context);
}
