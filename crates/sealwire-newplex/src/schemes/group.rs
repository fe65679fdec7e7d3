//! What the schemes with public keys share: elements of ristretto255 (RFC 9496) and scalars.

use crate::Protocol;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity as _;
use curve25519_dalek::{RistrettoPoint, Scalar};
use thiserror::Error;
use zeroize::Zeroizing;

/// Size of an encoded element or scalar in bytes.
pub(crate) const ENCODED_SIZE: usize = 32;

/// Why bytes are not an element, or not a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidEncoding {
    /// The length is wrong.
    #[error("32 bytes are needed, not {0}")]
    Length(usize),
    /// No value has this encoding.
    #[error("not the canonical encoding of anything: the bytes were damaged or are something else")]
    NotCanonical,
    /// The identity element or the scalar zero: whatever was done with it would be no secret.
    #[error("the identity element and the scalar zero protect nothing and are refused")]
    Neutral,
}

/// An element that is not the identity, with its encoding.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    point: RistrettoPoint,
    encoding: [u8; ENCODED_SIZE],
}

impl Element {
    /// Decodes an element.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidEncoding> {
        let encoding = sized(bytes)?;
        let point = CompressedRistretto(encoding)
            .decompress()
            .ok_or(InvalidEncoding::NotCanonical)?;
        if point.is_identity() {
            return Err(InvalidEncoding::Neutral);
        }
        Ok(Self { point, encoding })
    }

    /// `point`, which the caller knows not to be the identity.
    pub(crate) fn new(point: RistrettoPoint) -> Self {
        Self {
            point,
            encoding: encode(&point),
        }
    }

    /// The point.
    pub(crate) fn point(&self) -> &RistrettoPoint {
        &self.point
    }

    /// The encoding.
    pub(crate) fn encoding(&self) -> &[u8; ENCODED_SIZE] {
        &self.encoding
    }
}

/// Decodes a scalar, zero included.
pub(crate) fn decode_scalar(bytes: &[u8]) -> Result<Scalar, InvalidEncoding> {
    let bytes = Zeroizing::new(sized(bytes)?);
    Option::from(Scalar::from_canonical_bytes(*bytes)).ok_or(InvalidEncoding::NotCanonical)
}

fn sized(bytes: &[u8]) -> Result<[u8; ENCODED_SIZE], InvalidEncoding> {
    bytes
        .try_into()
        .map_err(|_| InvalidEncoding::Length(bytes.len()))
}

/// The encoding of any point.
pub(crate) fn encode(point: &RistrettoPoint) -> [u8; ENCODED_SIZE] {
    point.compress().to_bytes()
}

/// What two parties alone can compute: `scalar` times `element`.
pub(crate) fn shared_secret(scalar: &Scalar, element: &Element) -> Zeroizing<[u8; ENCODED_SIZE]> {
    let point = Zeroizing::new(scalar * element.point());
    Zeroizing::new(encode(&point))
}

/// A scalar from 64 derived bytes. That it is zero has a probability of 2^-252.
pub(crate) fn derive_scalar(protocol: &mut Protocol, label: &str) -> Zeroizing<Scalar> {
    let bytes = Zeroizing::new(protocol.derive_array::<64>(label));
    Zeroizing::new(Scalar::from_bytes_mod_order_wide(&bytes))
}

/// An element from 64 derived bytes, whose discrete logarithm nobody knows (RFC 9496, section
/// 4.3.4). That it is the identity has a probability of 2^-252.
pub(crate) fn derive_point(protocol: &mut Protocol, label: &str) -> Zeroizing<RistrettoPoint> {
    let bytes = Zeroizing::new(protocol.derive_array::<64>(label));
    Zeroizing::new(RistrettoPoint::from_uniform_bytes(&bytes))
}

/// `a * p + b * q` in a time that depends on them: for public values only.
#[cfg(feature = "alloc")]
pub(crate) fn double_mul_vartime(
    (a, p): (&Scalar, &RistrettoPoint),
    (b, q): (&Scalar, &RistrettoPoint),
) -> RistrettoPoint {
    use curve25519_dalek::traits::VartimeMultiscalarMul as _;
    RistrettoPoint::vartime_multiscalar_mul([a, b], [p, q])
}

/// `a * p + b * q`.
#[cfg(not(feature = "alloc"))]
pub(crate) fn double_mul_vartime(
    (a, p): (&Scalar, &RistrettoPoint),
    (b, q): (&Scalar, &RistrettoPoint),
) -> RistrettoPoint {
    a * p + b * q
}

/// A public type around an [`Element`]: its encodings, comparison and `Debug`.
macro_rules! element_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(pub(in crate::schemes) $crate::schemes::group::Element);

        impl $name {
            /// Decodes 32 bytes.
            ///
            /// # Errors
            ///
            /// [`InvalidEncoding`](crate::schemes::keys::InvalidEncoding) unless they are the
            /// canonical encoding of an element other than the identity (RFC 9496, section 4.3.1).
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::schemes::group::InvalidEncoding> {
                $crate::schemes::group::Element::decode(bytes).map(Self)
            }

            /// The canonical encoding.
            #[must_use]
            pub fn to_bytes(&self) -> [u8; 32] {
                *self.0.encoding()
            }

            /// The canonical encoding.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; 32] {
                self.0.encoding()
            }
        }

        impl TryFrom<&[u8]> for $name {
            type Error = $crate::schemes::group::InvalidEncoding;

            fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
                Self::from_bytes(bytes)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl Eq for $name {}

        impl core::hash::Hash for $name {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                self.as_bytes().hash(state);
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "("))?;
                for byte in self.as_bytes() {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str(")")
            }
        }
    };
}
pub(crate) use element_type;
