//! The AES S-box as a circuit on bit planes.

use super::Planes;

/// SubBytes.
///
/// The circuit of Boyar and Peralta, "A Small Depth-16 Circuit for the AES S-Box" (SEC 2012) in its
/// form with the fewest gates: a linear layer, an inversion in GF(2^4) towers, a linear layer. Names
/// are those of the paper, where `x0` is the highest bit.
#[inline(always)]
pub(super) fn substitute([x7, x6, x5, x4, x3, x2, x1, x0]: Planes) -> Planes {
    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;

    let t2 = y12 & y15;
    let t4 = (y3 & y6) ^ t2;
    let t6 = (y4 & x7) ^ t2;
    let t7 = y13 & y16;
    let t9 = (y5 & y1) ^ t7;
    let t11 = (y2 & y7) ^ t7;
    let t12 = y9 & y11;
    let t14 = (y14 & y17) ^ t12;
    let t16 = (y8 & y10) ^ t12;
    let t21 = t4 ^ t14 ^ y20;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;

    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = (t25 & t27) ^ t22;
    let t33 = ((t22 ^ t26) & (t23 ^ t24)) ^ t24;
    let t36 = t24 & (t27 ^ t33);
    let t37 = t36 ^ t23 ^ t33;
    let t40 = t25 ^ (t29 & (t27 ^ t36));

    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;

    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let s0 = t59 ^ t63;
    let s6 = t56 ^ !t62;
    let s7 = t48 ^ !t60;
    let t67 = t64 ^ t65;
    let s3 = t53 ^ t66;
    let s4 = t51 ^ t66;
    let s5 = t47 ^ t65;
    let s1 = t64 ^ !s3;
    let s2 = t55 ^ !t67;
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplication in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
    fn product(a: u8, b: u8) -> u8 {
        let mut product = 0_u8;
        for bit in (0..8).rev() {
            let carry = product >> 7;
            product = (product << 1) ^ (carry * 0x1b) ^ ((b >> bit & 1) * a);
        }
        product
    }

    /// FIPS 197, section 5.1.1: the inverse, then an affine map.
    fn sbox(byte: u8) -> u8 {
        let inverse = (0..=255).find(|x| product(byte, *x) == 1).unwrap_or(0);
        let rotated = (0..5).map(|by| inverse.rotate_left(by));
        rotated.fold(0x63, |sum, turned| sum ^ turned)
    }

    #[test]
    fn every_byte_is_substituted_as_fips_197_defines_it() {
        for byte in 0..=255_u8 {
            let planes = core::array::from_fn(|bit| u64::from(byte >> bit & 1));
            let substituted = substitute(planes).map(|plane| plane & 1);
            let value = (0..8).fold(0, |value, bit| value | (substituted[bit] as u8) << bit);
            assert_eq!(value, sbox(byte), "{byte:#x}");
        }
    }
}
