use super::*;
use core::convert::Infallible;
use rand_core::{TryCryptoRng, TryRng};

/// Gives the same byte for ever.
struct Stuck(u8);

impl TryRng for Stuck {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_ne_bytes([self.0; 4]))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_ne_bytes([self.0; 8]))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0);
        Ok(())
    }
}

impl TryCryptoRng for Stuck {}

#[test]
fn a_generator_that_gives_zeros_is_refused() {
    assert!(matches!(
        Randomness::from_rng(&mut Stuck(0)),
        Err(RandomnessError::Zero)
    ));
    let random = Randomness::from_rng(&mut Stuck(7)).expect("not zero");
    assert_eq!(random.as_bytes(), &[7; RANDOMNESS_SIZE]);
}

#[test]
fn the_order_of_the_group_is_zero_too() {
    let mut order = [0; RANDOMNESS_SIZE];
    order[..32].copy_from_slice((-Scalar::ONE).as_bytes());
    assert!(Randomness::from_bytes(&order).is_ok());
    order[0] += 1;
    assert!(matches!(
        Randomness::from_bytes(&order),
        Err(RandomnessError::Zero)
    ));
}

#[cfg(feature = "std")]
#[test]
fn the_operating_system_gives_other_bytes_each_time() {
    let (one, other) = (Randomness::from_os(), Randomness::from_os());
    assert_ne!(
        one.expect("randomness").as_bytes(),
        other.expect("randomness").as_bytes()
    );
}

#[test]
fn nothing_of_it_is_shown() {
    let random = Randomness::from_bytes(&[7; RANDOMNESS_SIZE]);
    assert_eq!(std::format!("{random:?}"), "Ok(Randomness(..))");
}
