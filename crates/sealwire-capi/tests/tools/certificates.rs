//! Prints certificates for `tests/wss.c` as a C header: made as those of the tests in Rust are, and anew each
//! time.

#[allow(dead_code, reason = "the tests of sockets use the rest")]
#[path = "../../../sealwire/tests/support/authority.rs"]
mod authority;

use authority::Authority;

/// Text as a macro: a line of it on each line.
fn define(name: &str, text: &str) {
    print!("#define {name}");
    for line in text.lines() {
        print!(" \\\n    \"{line}\\n\"");
    }
    println!();
}

fn main() {
    let (authority, other) = (Authority::new(), Authority::new());
    define("AUTHORITY_PEM", &authority.pem);
    define("OTHER_AUTHORITY_PEM", &other.pem);
    let here = &["127.0.0.1", "localhost"][..];
    for (name, names, years) in [
        ("HERE", here, (2000, 4000)),
        ("NAMED", &["example.org"], (2000, 4000)),
        ("EXPIRED", here, (2000, 2020)),
    ] {
        let (chain, key) = authority.certify(names, years);
        define(&format!("{name}_CHAIN_PEM"), &chain);
        define(&format!("{name}_KEY_PEM"), &key);
    }
}
