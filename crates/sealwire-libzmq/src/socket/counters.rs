//! `ZMQ_COUNTERS`: what the socket has done and dropped, as the struct of `zmq_sealwire.h`.

use std::sync::atomic::Ordering;

use sealwire::account::Kind;
use zeroize::Zeroizing;

use super::Socket;
use crate::errno::Errno;

/// The members behind `size`, in their order, with their numbers.
pub(super) type Counted = [(&'static str, u64); 18];

impl Socket {
    pub(super) fn counted(&self) -> Counted {
        let counters = self.inner.counters();
        let cut_short = self.cut_short.load(Ordering::Relaxed);
        let observer = self.observer();
        let events_dropped = observer.as_ref().map_or(0, |observer| observer.dropped());
        [
            ("messages_sent", counters.messages_sent),
            ("bytes_sent", counters.bytes_sent),
            ("messages_received", counters.messages_received),
            ("bytes_received", counters.bytes_received),
            ("dropped_at_send", counters.dropped_at_send + cut_short),
            ("dropped_unsent", counters.dropped_unsent),
            ("unconfirmed", counters.unconfirmed),
            ("dropped_unread", counters.dropped_unread),
            ("replaced", counters.replaced),
            ("dropped_at_receive", counters.dropped_at_receive),
            ("events_dropped", events_dropped),
            ("handshakes_completed", counters.handshakes_completed),
            ("handshakes_failed", counters.handshakes_failed),
            ("connections_refused", counters.exceeded(Kind::Connections)),
            ("handshakes_refused", counters.exceeded(Kind::Handshakes)),
            ("receiving_paused", counters.exceeded(Kind::Received)),
            ("reconnects", counters.reconnects),
            ("disconnects", counters.disconnects),
        ]
    }
}

/// As much of the struct as there is room for: programs that were compiled with an older header have less, those with a
/// newer one more. `size` says how much it is.
///
/// # Errors
///
/// `EINVAL` where there is no room for `size` and one number.
pub(super) fn answer(counted: &Counted, room: usize) -> Result<Zeroizing<Vec<u8>>, Errno> {
    const NUMBER: usize = size_of::<u64>();
    let numbers = (room / NUMBER).min(1 + counted.len());
    if numbers < 2 {
        return Err(Errno::INVAL);
    }
    let size = (numbers * NUMBER) as u64;
    let values = counted.iter().map(|(_, value)| *value);
    let all = std::iter::once(size).chain(values).take(numbers);
    Ok(all.flat_map(u64::to_ne_bytes).collect::<Vec<_>>().into())
}

#[cfg(test)]
mod tests {
    use sealwire::SocketType;
    use sealwire_zmtp::Frames;

    use super::*;
    use crate::context::Context;
    use crate::options::number;
    use crate::socket::{DONTWAIT, SNDMORE};

    fn numbers(socket: &Socket, room: usize) -> Vec<u64> {
        let bytes = socket.get(number::COUNTERS, room).unwrap();
        let numbers = bytes.chunks_exact(8);
        numbers
            .map(|number| u64::from_ne_bytes(number.try_into().unwrap()))
            .collect()
    }

    fn count(socket: &Socket, name: &str) -> u64 {
        let counted = socket.counted();
        counted.iter().find(|(it, _)| *it == name).unwrap().1
    }

    #[test]
    fn the_header_has_the_members_in_their_order() {
        let header = include_str!("../../include/zmq_sealwire.h");
        let members: Vec<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("    uint64_t ")?.strip_suffix(';'))
            .collect();
        let context = Context::without_rules();
        let counted = context.open_briefly(SocketType::Pair).counted();
        let expected = std::iter::once("size").chain(counted.iter().map(|(name, _)| *name));
        assert_eq!(members, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_program_gets_as_much_as_it_has_room_for() {
        let context = Context::without_rules();
        let socket = context.open_briefly(SocketType::Router);
        for (room, size) in [(16, 16), (23, 16), (24, 24), (152, 152), (1_000, 152)] {
            let numbers = numbers(&socket, room);
            assert_eq!((numbers[0], numbers.len() * 8), (size, size as usize));
        }
        for room in [0, 8, 15] {
            assert_eq!(socket.get(number::COUNTERS, room).err(), Some(Errno::INVAL));
        }
    }

    #[test]
    fn what_a_socket_drops_in_silence_is_counted() {
        let context = Context::without_rules();
        // To a peer that is not there.
        let router = context.open_briefly(SocketType::Router);
        for part in 0..3 {
            let flags = if part < 2 { SNDMORE } else { 0 };
            router.send(&mut Frames::single("nobody"), flags).unwrap();
        }
        assert_eq!(count(&router, "dropped_at_send"), 1);
        // An older message in favour of a newer.
        let pull = context.open_briefly(SocketType::Pull);
        pull.set(number::CONFLATE, Some(&1_i32.to_ne_bytes()))
            .unwrap();
        pull.bind("inproc://latest").unwrap();
        let push = context.open_briefly(SocketType::Push);
        push.connect("inproc://latest").unwrap();
        for message in ["old", "new"] {
            push.send(&mut Frames::single(message), DONTWAIT).unwrap();
        }
        assert_eq!(pull.receive(0).unwrap().as_bytes(), b"new");
        assert_eq!(count(&pull, "replaced") + count(&push, "replaced"), 1);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let context = Context::without_rules();
        for (from, to) in [
            (SocketType::Pub, SocketType::Sub),
            (SocketType::Router, SocketType::Dealer),
        ] {
            let sender = context.open_briefly(from);
            let receiver = context.open_briefly(to);
            for (socket, option) in [(&sender, number::SNDHWM), (&receiver, number::RCVHWM)] {
                socket.set(option, Some(&1_i32.to_ne_bytes())).unwrap();
            }
            receiver.set(number::ROUTING_ID, Some(b"it")).unwrap();
            if to == SocketType::Sub {
                receiver.set(number::SUBSCRIBE, Some(b"")).unwrap();
            }
            sender.bind("inproc://full").unwrap();
            receiver.connect("inproc://full").unwrap();
            if to == SocketType::Dealer {
                receiver.send(&mut Frames::single("here"), 0).unwrap();
                sender.receive(0).unwrap();
                sender.receive(0).unwrap();
            }
            for _ in 0..10 {
                if from == SocketType::Router {
                    sender.send(&mut Frames::single("it"), SNDMORE).unwrap();
                }
                sender.send(&mut Frames::single("message"), 0).unwrap();
            }
            let dropped = count(&sender, "dropped_at_send");
            assert!((1..10).contains(&dropped), "{from} {dropped}");
            for _ in dropped..10 {
                assert_eq!(receiver.receive(0).unwrap().as_bytes(), b"message");
            }
            assert_eq!(receiver.receive(DONTWAIT).err(), Some(Errno::AGAIN));
            sender.close();
            receiver.close();
        }
    }
}
