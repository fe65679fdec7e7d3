//! ARCHITECTURE.md says what the code says.

use std::path::Path;

use sealwire::account::{Excess, Kind, Side};

const BEGIN: &str =
    "<!-- kinds: what follows comes from the code (crates/sealwire/src/account/kind.rs) -->\n";
const END: &str = "<!-- end of kinds -->\n";

fn table() -> String {
    let mut table = "| what a peer makes us hold, repeat or log | held because the peer | bound | what goes over it |\n\
        |---|---|---|---|\n"
        .to_owned();
    for kind in Kind::ALL {
        let side = match kind.side() {
            Side::Inbound => "sent it",
            Side::Outbound => "does not read it",
            Side::Count => "(a number or a rate)",
        };
        let excess = match kind.excess() {
            Excess::Paused => "waits: nothing more is read, or produced, until there is room",
            Excess::Refused => "is refused or dropped, and counted",
            Excess::Disconnected => "ends the connection, with the cause",
        };
        let (name, bound) = (kind.name(), kind.bound());
        table += &format!("| {name} | {side} | {bound} | {excess} |\n");
    }
    table
}

#[test]
fn the_map_names_each_kind_and_its_bound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).unwrap();
    let between = text
        .split_once(BEGIN)
        .and_then(|(_, rest)| rest.split_once(END));
    let (found, _) = between.expect("both markers are there");
    let right = table();
    assert!(
        found == right,
        "between the markers there should be:\n\n{right}"
    );
}
