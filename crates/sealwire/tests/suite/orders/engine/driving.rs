//! A session that the I/O thread and threads of the application drive in turn.

use std::sync::Arc;

use loom::thread;

use super::failure::FailureCause;
use super::mailbox::{Command, Mailbox};
use super::pattern::{DirectReader as _, Link as _};
use super::session::{Core, End, Session};
use super::shared::SharedSession;
use super::world::Clock;
use crate::orders::waiting::listen;
use crate::orders::{explore, explore_up_to};

/// A socket with one peer.
struct Socket {
    core: Arc<Core>,
    mailbox: Arc<Mailbox>,
    session: Arc<SharedSession>,
}

impl Socket {
    fn new(prepare: impl FnOnce(&mut Session)) -> Arc<Self> {
        let (core, mailbox) = (Arc::new(Core::default()), Arc::new(Mailbox::new()));
        let mut session = Session::new(core.clone());
        prepare(&mut session);
        let session = SharedSession::new(session, mailbox.clone(), Arc::new(Clock::default()));
        Arc::new(Socket {
            core,
            mailbox,
            session,
        })
    }

    fn send(&self) {
        let mut pipe = self.core.pipe.lock().unwrap();
        pipe.outbound += 1;
        let told = std::mem::replace(&mut pipe.output_signalled, true);
        drop(pipe);
        if !told {
            self.session.output_ready(true);
        }
    }

    fn try_receive(&self) -> bool {
        let mut pipe = self.core.pipe.lock().unwrap();
        if pipe.inbound == 0 {
            return false;
        }
        pipe.inbound -= 1;
        let wanted = std::mem::take(&mut pipe.input_paused);
        drop(pipe);
        if wanted {
            self.session.input_wanted();
        }
        true
    }

    fn receive(&self) {
        loop {
            let listener = listen(&self.core.readable);
            if self.try_receive() {
                return;
            }
            listener.wait();
        }
    }

    /// A thread of the application, which says when it is done.
    fn thread(self: &Arc<Self>, calls: fn(&Socket)) {
        let socket = self.clone();
        thread::spawn(move || {
            calls(&socket);
            socket.mailbox.post(Command::Done);
        });
    }

    /// Does what the I/O thread does until this number of threads of the application are done. Returns the
    /// session that it has ended, if it has.
    fn serve(&self, mut threads: usize) -> Option<Session> {
        let mut ended = None;
        while threads > 0 {
            for command in self.mailbox.wait() {
                if matches!(command, Command::Done) {
                    threads -= 1;
                } else if ended.is_none() {
                    ended = self.carry_out(&command);
                }
            }
        }
        ended
    }

    fn carry_out(&self, command: &Command) -> Option<Session> {
        let advanced = self.session.advance(|session| {
            match command {
                Command::Output(_) => session.output_ready(),
                Command::Input(_) => session.input_wanted(std::time::Duration::ZERO),
                _ => {}
            }
            session.drive();
            Ok(())
        });
        match advanced? {
            Ok(()) => None,
            Err(End::Failed(cause)) => {
                assert_eq!(cause, FailureCause::Internal);
                Some(self.session.take().expect("it is taken once"))
            }
        }
    }

    fn written(&self) -> usize {
        self.session.with(|session| session.written).unwrap()
    }
}

#[test]
fn what_is_sent_is_written_whoever_drives_the_session() {
    explore_up_to(2, || {
        let socket = Socket::new(|_| {});
        socket.thread(|socket| {
            socket.send();
            socket.send();
        });
        socket.thread(Socket::send);
        assert!(socket.serve(2).is_none());
        assert_eq!(socket.written(), 3);
    });
}

#[test]
fn a_session_that_found_the_queue_full_reads_on_once_there_is_room() {
    explore_up_to(2, || {
        let socket = Socket::new(|session| session.arrived = 3);
        socket.thread(|socket| (0..3).for_each(|_| socket.receive()));
        // The poll says that it can be read.
        socket.mailbox.post(Command::Revisit(socket.session.key));
        assert!(socket.serve(1).is_none());
    });
}

#[test]
fn what_panics_in_whichever_thread_ends_the_session_once() {
    for panics_at in [1, 2] {
        explore_up_to(2, move || {
            let socket = Socket::new(|session| session.panics_at = Some(panics_at));
            socket.thread(Socket::send);
            socket.thread(Socket::send);
            ends_by_a_panic(&socket, panics_at);
        });
    }
}

/// Neither of these calls posts anything by itself.
#[test]
fn what_panics_in_a_call_that_only_helps_ends_the_session_once() {
    explore(|| {
        let socket = Socket::new(|session| session.panics_at = Some(1));
        socket.core.pipe.lock().unwrap().outbound = 2;
        socket.thread(|socket| socket.session.push_output());
        socket.thread(|socket| {
            socket.session.read();
        });
        ends_by_a_panic(&socket, 1);
    });
}

fn ends_by_a_panic(socket: &Socket, panics_at: usize) {
    let ended = socket.serve(2).expect("the I/O thread is told");
    assert_eq!(ended.written, panics_at);
    assert!(socket.session.is_broken());
    assert!(socket.session.take().is_none());
}
