//! Sockets of one process, whose messages pass through no network.

use super::*;
use crate::simulation::Scene;

/// Whatever lies between two sockets as they close goes with them, and so does their context.
#[test]
fn sockets_that_close_with_messages_between_them_leave_nothing() {
    for handled in 0..4 {
        for first in 0..2 {
            let mut scene = Scene::new(0, Trouble::NONE);
            let context = scene.context(1);
            let socket = |socket_type| {
                let builder = Socket::builder(socket_type).context(&context);
                builder.build().unwrap()
            };
            let (rep, req) = (socket(SocketType::Rep), socket(SocketType::Req));
            rep.bind("inproc://there").unwrap();
            req.connect("inproc://there").unwrap();
            if handled > 0 {
                req.try_send("a question").unwrap();
            }
            if handled > 1 {
                let question = rep.try_recv().unwrap();
                if handled > 2 {
                    rep.try_send(question).unwrap();
                }
            }
            let mut sockets = vec![rep, req];
            drop(sockets.remove(first));
            drop((sockets, context));
            println!("{handled} calls, then the socket {first} closes");
            scene.end();
        }
    }
}
