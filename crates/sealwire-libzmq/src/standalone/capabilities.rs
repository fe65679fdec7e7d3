//! The version of libzmq whose programs run, and what the library can do.

/// Major, minor and patch number of the libzmq that this library stands in for.
pub(crate) const VERSION: [i32; 3] = [4, 3, 5];

/// Whether the library has what `zmq_has` is asked for. Names as libzmq spells them, and two of Sealwire's.
pub(crate) fn has(name: &[u8]) -> bool {
    let everywhere = matches!(name, b"ipc" | b"curve" | b"WS" | b"blake3" | b"sealwire");
    everywhere || (cfg!(draft) && name == b"draft")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_said_to_be() {
        for name in ["ipc", "curve", "WS", "blake3", "sealwire"] {
            assert!(has(name.as_bytes()), "{name}");
        }
        for name in [
            "tipc", "pgm", "norm", "vmci", "gssapi", "WSS", "ws", "IPC", "",
        ] {
            assert!(!has(name.as_bytes()), "{name}");
        }
        assert_eq!(has(b"draft"), cfg!(draft));
    }
}
