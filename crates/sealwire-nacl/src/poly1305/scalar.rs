//! Poly1305 in 64-bit registers: three limbs, of 44, 44 and 42 bits.

use crate::salsa20::block::MAC_KEY_SIZE;
use crate::sizes::TAG_SIZE;

pub(crate) const MASK_44: u64 = (1 << 44) - 1;
pub(crate) const MASK_42: u64 = (1 << 42) - 1;

/// A number in three limbs, of 44, 44 and 42 bits and a little more.
pub(crate) type Limbs = [u64; 3];

/// A number to multiply by.
pub(crate) struct Factor {
    pub(crate) limbs: Limbs,
    /// The upper two limbs times 20: what goes beyond 2^130 comes back times 5, and limbs of 44 bits
    /// make 132.
    times_20: [u64; 2],
}

impl Factor {
    #[inline]
    pub(crate) fn new(limbs: Limbs) -> Self {
        Self {
            limbs,
            times_20: [limbs[1] * 20, limbs[2] * 20],
        }
    }

    /// The product modulo 2^130 - 5, not fully reduced.
    #[inline]
    pub(crate) fn times(&self, limbs: Limbs) -> Limbs {
        carried(self.products(limbs))
    }

    /// The limbs of the product before their carries.
    #[inline]
    fn products(&self, [h0, h1, h2]: Limbs) -> [u128; 3] {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let ([r0, r1, r2], [s1, s2]) = (self.limbs, self.times_20);
        [
            product(h0, r0) + product(h1, s2) + product(h2, s1),
            product(h0, r1) + product(h1, r0) + product(h2, s2),
            product(h0, r2) + product(h1, r1) + product(h2, r0),
        ]
    }
}

/// Sums of products, brought back into limbs.
#[inline]
fn carried([d0, d1, d2]: [u128; 3]) -> Limbs {
    let d1 = d1 + u128::from((d0 >> 44) as u64);
    let d2 = d2 + u128::from((d1 >> 44) as u64);
    let h0 = (d0 as u64 & MASK_44) + (d2 >> 42) as u64 * 5;
    let h1 = (d1 as u64 & MASK_44) + (h0 >> 44);
    [h0 & MASK_44, h1, d2 as u64 & MASK_42]
}

/// From this many blocks on the square of `r` is worth its multiplication.
pub(super) const PAIRED: usize = 4;

/// The limbs of 128 bits.
#[inline]
fn limbs(bytes: &[u8; 16]) -> Limbs {
    let bits = u128::from_le_bytes(*bytes);
    let (low, high) = (bits as u64, (bits >> 64) as u64);
    [
        low & MASK_44,
        ((low >> 44) | (high << 20)) & MASK_44,
        high >> 24,
    ]
}

/// The limbs of a whole block, with the bit above it.
#[inline]
fn block_limbs(block: &[u8; 16]) -> Limbs {
    let [low, middle, high] = limbs(block);
    [low, middle, high | 1 << 40]
}

#[inline]
fn plus(a: Limbs, b: Limbs) -> Limbs {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// The sum so far, and what it is multiplied by with each block.
pub(crate) struct Accumulator {
    pub(crate) h: Limbs,
    pub(crate) r: Factor,
    /// Added at the end.
    pad: u128,
}

impl Accumulator {
    #[inline]
    pub(crate) fn new(key: &[u8; MAC_KEY_SIZE]) -> Self {
        let (r, pad) = key.split_at(16);
        let word = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
        let (low, high) = (word(r) as u64, (word(r) >> 64) as u64);
        Self {
            h: [0; 3],
            r: Factor::new([
                low & 0xffc_0fff_ffff,
                ((low >> 44) | (high << 20)) & 0xfff_ffc0_ffff,
                (high >> 24) & 0x00f_ffff_fc0f,
            ]),
            pad: word(pad),
        }
    }

    /// Takes whole blocks, two with each carry where there are enough of them to square `r` for.
    #[inline]
    pub(crate) fn update(&mut self, blocks: &[[u8; 16]]) {
        let mut rest = blocks;
        if blocks.len() >= PAIRED {
            let squared = Factor::new(self.r.times(self.r.limbs));
            let pairs;
            (pairs, rest) = blocks.as_chunks::<2>();
            for [first, second] in pairs {
                let first = squared.products(plus(self.h, block_limbs(first)));
                let second = self.r.products(block_limbs(second));
                self.h = carried(core::array::from_fn(|i| first[i] + second[i]));
            }
        }
        for block in rest {
            self.h = self.r.times(plus(self.h, block_limbs(block)));
        }
    }

    /// Takes the last part of a text, of any size, and gives the tag.
    // By force, or the state goes to it through memory: 1 ns for each short message.
    #[inline(always)]
    pub(crate) fn finish(mut self, text: &[u8]) -> [u8; TAG_SIZE] {
        let (blocks, rest) = text.as_chunks();
        self.update(blocks);
        self.finish_few(rest)
    }

    /// The same for a few blocks, which are taken one by one.
    // By force, as above.
    #[inline(always)]
    pub(crate) fn finish_few(mut self, text: &[u8]) -> [u8; TAG_SIZE] {
        let (blocks, rest) = text.as_chunks();
        for block in blocks {
            self.h = self.r.times(plus(self.h, block_limbs(block)));
        }
        if !rest.is_empty() {
            let mut block = [0; 16];
            block[..rest.len()].copy_from_slice(rest);
            block[rest.len()] = 1;
            self.h = self.r.times(plus(self.h, limbs(&block)));
        }
        self.reduced().wrapping_add(self.pad).to_le_bytes()
    }

    /// The sum modulo 2^130 - 5, and of that the lower 128 bits.
    #[inline]
    fn reduced(&self) -> u128 {
        let [mut h0, mut h1, mut h2] = self.h;
        for _ in 0..2 {
            h2 += h1 >> 44;
            h1 &= MASK_44;
            h0 += (h2 >> 42) * 5;
            h2 &= MASK_42;
            h1 += h0 >> 44;
            h0 &= MASK_44;
        }
        h2 += h1 >> 44;
        h1 &= MASK_44;

        // h - (2^130 - 5), taken when it is not negative.
        let g0 = h0 + 5;
        let g1 = h1 + (g0 >> 44);
        let g2 = (h2 + (g1 >> 44)).wrapping_sub(1 << 42);
        let reduced = (g2 >> 63).wrapping_sub(1);
        h0 = (h0 & !reduced) | (g0 & MASK_44 & reduced);
        h1 = (h1 & !reduced) | (g1 & MASK_44 & reduced);
        h2 = (h2 & !reduced) | (g2 & reduced);
        u128::from(h0) | u128::from(h1) << 44 | u128::from(h2) << 88
    }
}
