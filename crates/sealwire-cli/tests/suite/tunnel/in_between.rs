//! Somebody between connector and listener who changes, cuts, repeats and leaves out: what arrives
//! behind the tunnel is a beginning of what was sent, and never looks complete.

use std::io;
use std::sync::mpsc;

use sealwire_relay::{Act, Format, Relay, Script, honest};

use super::ends::{Keys, TIMEOUT, content, dial, exchange, service};

/// Bytes of the handshake in each direction.
const FROM_CONNECTOR: usize = 32 + 48;
const FROM_LISTENER: usize = 80;

/// A manipulation of one direction.
#[derive(Debug, Clone, Copy)]
enum Attack {
    /// Changes a bit of the byte at this place.
    Flip(usize),
    /// Ends the direction here.
    Cut(usize),
    /// Leaves out this many bytes at the end, and ends it properly.
    CutLast(usize),
    /// Sends bytes twice: place and count.
    Repeat(usize, usize),
    /// Leaves bytes out: place and count.
    Skip(usize, usize),
    /// Swaps two neighbouring runs: place, and bytes of each.
    Swap(usize, usize),
}

impl Attack {
    fn applied(self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Attack::Flip(place) => bytes[place] ^= 0x10,
            Attack::Cut(place) => bytes.truncate(place),
            Attack::CutLast(count) => bytes.truncate(bytes.len() - count),
            Attack::Repeat(place, count) => {
                let twice = bytes[place..place + count].to_vec();
                bytes.splice(place..place, twice);
            }
            Attack::Skip(place, count) => drop(bytes.drain(place..place + count)),
            Attack::Swap(place, count) => bytes[place..place + 2 * count].rotate_left(count),
        }
        bytes
    }

    /// Does it to one direction of a connection. The messages of the handshake go on at once and the rest when all of
    /// it is there, so that every place is known.
    fn script(self, handshake: &'static [usize]) -> Script {
        let mut before = 0;
        Box::new(move |index, mut unit| {
            if index < handshake.len() {
                // A message is changed before it goes on.
                if let Attack::Flip(place) = self
                    && let Some(byte) = place.checked_sub(before).and_then(|at| unit.get_mut(at))
                {
                    *byte ^= 0x10;
                }
                before += unit.len();
                return Act::forward(unit);
            }
            let all = [vec![0; before], unit].concat();
            let attacked = self.applied(all);
            Act::forward(attacked.get(before..).unwrap_or_default())
        })
    }
}

/// Runs a tunnel with the attack on one direction. What came out of that direction, and how it ended.
fn attacked(attack: Attack, on_connector: bool, text: &[u8]) -> (Vec<u8>, io::Result<()>) {
    let (arrived, arrives) = mpsc::channel();
    let sent_by_service = if on_connector {
        Vec::new()
    } else {
        text.to_vec()
    };
    let service = service(move |socket| {
        let _ = arrived.send(exchange(socket, sent_by_service.clone()));
    });
    let keys = Keys::new();
    let mut listener = keys.listen(&service, &[]);
    let behind = listener.endpoint().trim_start_matches("tcp://").parse();
    let sizes: &[usize] = match on_connector {
        true => &[32, 48],
        false => &[FROM_LISTENER],
    };
    let units = Format::Sized {
        first: sizes.to_vec(),
        then: usize::MAX,
    };
    let server = behind.expect("an address");
    let relay = match on_connector {
        true => Relay::before(server, units).with_format_to_client(Format::Pieces),
        false => Relay::before(server, Format::Pieces).with_format_to_client(units),
    };
    let endpoint = relay.endpoint();
    relay.carry_all(move || match on_connector {
        true => [attack.script(sizes), honest()],
        false => [honest(), attack.script(sizes)],
    });
    let mut connector = keys.connect("alice", &endpoint, &[]);
    let sent_by_client = if on_connector {
        text.to_vec()
    } else {
        Vec::new()
    };
    let client = exchange(dial(&connector.endpoint()), sent_by_client);
    if !on_connector {
        return client;
    }
    // Without a handshake the service never hears of it, and the client is told.
    let is_in_handshake = matches!(attack, Attack::Flip(place) if place < FROM_CONNECTOR);
    if is_in_handshake {
        return client;
    }
    arrives.recv_timeout(TIMEOUT).expect("an outcome")
}

#[track_caller]
fn is_noticed(attack: Attack, text: &[u8]) {
    for on_connector in [true, false] {
        let (received, ended) = attacked(attack, on_connector, text);
        assert!(ended.is_err(), "{attack:?} looked like a clean end");
        assert!(
            text.starts_with(&received),
            "{attack:?} changed the content"
        );
    }
}

#[test]
fn without_an_attack_everything_arrives() {
    let text = content(150_000);
    for on_connector in [true, false] {
        let (received, ended) = attacked(Attack::CutLast(0), on_connector, &text);
        assert!(ended.is_ok() && received == text);
    }
}

#[test]
fn changed_bytes_are_noticed_everywhere() {
    let text = content(1_000);
    let blocks = FROM_LISTENER;
    // In each message of the handshake; in header, text and tag of a block; in the end.
    for place in [
        0,
        31,
        32,
        79,
        blocks,
        blocks + 1,
        blocks + 2,
        blocks + 1_000,
    ] {
        is_noticed(Attack::Flip(place), &text);
    }
}

#[test]
fn streams_that_are_cut_are_noticed_wherever_they_are_cut() {
    let text = content(1_000);
    let blocks = FROM_LISTENER;
    for place in [blocks, blocks + 1, blocks + 2, blocks + 500] {
        is_noticed(Attack::Cut(place), &text);
    }
    // All blocks are there, and only the end is missing, in part or as a whole.
    for count in [1, 16, 18] {
        is_noticed(Attack::CutLast(count), &text);
    }
}

#[test]
fn repeated_missing_and_moved_bytes_are_noticed() {
    let text = content(3_000);
    let blocks = FROM_LISTENER;
    for attack in [
        Attack::Repeat(blocks, 300),
        Attack::Repeat(blocks + 700, 1),
        Attack::Skip(blocks, 18),
        Attack::Skip(blocks + 300, 1),
        Attack::Swap(blocks, 18),
        Attack::Swap(blocks + 100, 500),
    ] {
        is_noticed(attack, &text);
    }
}
