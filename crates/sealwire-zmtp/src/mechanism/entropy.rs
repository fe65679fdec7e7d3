//! The random bytes that one connection uses.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::keys::SecretKey;

/// Random bytes for one connection, from a cryptographic generator, never used for another one.
///
/// Wiped on drop; `Debug` shows nothing. NULL and PLAIN use none of them.
///
/// ```text
///  0        8                 40            64                96
///  +--------+-----------------+-------------+-----------------+
///  | padding| ephemeral secret| cookie nonce| one-time client |
///  | (server| c' or s'        | (server)    | key c (client   |
///  |  only) |                 | or vouch's  |  without keys), |
///  |        |                 | (client)    |  WELCOME nonce  |
///  +--------+-----------------+-------------+-----------------+
/// ```
#[derive(ZeroizeOnDrop)]
pub struct Entropy([u8; Self::SIZE]);

impl Entropy {
    /// Bytes needed for one connection.
    pub const SIZE: usize = 96;

    /// Takes fresh random bytes.
    pub const fn new(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    /// The padding octets of a BLAKE3 server's greeting.
    pub(crate) fn padding(&self) -> [u8; 8] {
        self.part::<0, 8>()
    }

    /// The secret key of the connection: `c'` or `s'`.
    pub(crate) fn ephemeral(&self) -> SecretKey {
        SecretKey::from_bytes(self.part::<8, 32>())
    }

    /// The nonce of the cookie box.
    pub(crate) fn cookie_nonce(&self) -> [u8; 24] {
        self.part::<40, 24>()
    }

    /// The nonce of a CURVE server's cookie box.
    pub(crate) fn short_cookie_nonce(&self) -> [u8; 16] {
        self.part::<40, 16>()
    }

    /// The nonce of a CURVE server's WELCOME, where a client has its one-time key.
    pub(crate) fn welcome_nonce(&self) -> [u8; 16] {
        self.part::<64, 16>()
    }

    /// The nonce of a CURVE client's vouch, where a server has that of its cookie.
    pub(crate) fn vouch_nonce(&self) -> [u8; 16] {
        self.part::<40, 16>()
    }

    /// The key of a client that was given none.
    pub(crate) fn one_time_client_key(&self) -> SecretKey {
        SecretKey::from_bytes(self.part::<64, 32>())
    }

    fn part<const FROM: usize, const LEN: usize>(&self) -> [u8; LEN] {
        core::array::from_fn(|i| self.0[FROM + i])
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy(..)")
    }
}
