//! Connections to a tunnel.

use std::io::{Read as _, Write as _};

use sealwire::account::{Excess, Kind};

use crate::tunnel::ends::{Keys, dial, echo, is_over, service};

/// Somebody who connects and never says who they are loses the oldest of their connections, and a
/// tunnel that is there, and new ones, go on.
pub(crate) fn connections() {
    assert_eq!(Kind::Tunnels.excess(), Excess::Refused);
    const ALL: usize = 40;
    const OF_ONE: usize = ALL / 4;
    let keys = Keys::new();
    let all = ALL.to_string();
    let options = ["--handshake-timeout", "1h", "--max-handshakes", &all];
    let mut listener = keys.listen(&service(echo), &options);
    let endpoint = listener.endpoint();
    let mut connector = keys.connect("alice", &endpoint, &[]);
    let entry = connector.endpoint();
    let mut bystander = dial(&entry);
    let mut strangers = Vec::new();
    for number in 1..=5 * ALL {
        strangers.push(dial(&endpoint));
        bystander.write_all(b"x").expect("it reads");
        bystander.read_exact(&mut [0]).expect("an answer");
        // The oldest gave way to one that was more than a quarter.
        if let Some(oldest) = number.checked_sub(OF_ONE + 1) {
            assert!(is_over(&strangers[oldest]));
        }
    }
    listener.await_line("its address had 10 handshakes");
    let mut another = dial(&entry);
    another.write_all(b"y").expect("it reads");
    another.read_exact(&mut [0]).expect("an answer");
}
