//! Salsa20 by rows: a vector holds four words of a block, for as many blocks as it has room for.
//!
//! A few blocks are there sooner than in [lanes](super::lanes), which are for many. The rows are the
//! diagonals of the square that a block is, so that a round works on all four of its columns at once. To work on the
//! rows of the square, the words of three vectors move on.
//!
//! ```text
//! square            vectors of the columns      of the rows
//!  0  1  2  3       a |  0  5 10 15             a |  0  5 10 15
//!  4  5  6  7       b |  4  9 14  3             b |  1  6 11 12
//!  8  9 10 11       c |  8 13  2  7             c |  2  7  8 13
//! 12 13 14 15       d | 12  1  6 11             d |  3  4  9 14
//! ```

use sealwire_simd::vector::{MAX_LANES, Vector};

use super::block::CONSTANTS;

/// The blocks of `N` vectors, one after the other, in parts of a vector each. `words` has the
/// [words](super::block::Position::words) of a block's position.
#[inline(always)]
pub(super) fn keystream<V: Vector, const N: usize>(
    isa: V::Isa,
    subkey: &[u32; 8],
    words: impl Fn(usize) -> [u32; 4],
) -> [[V; 4]; N] {
    let blocks = V::LANES / 4;
    let mut start = [[V::splat_quad(isa, CONSTANTS); 4]; N];
    for (index, [_, b, c, d]) in start.iter_mut().enumerate() {
        let [k0, k1, k2, k3, k4, k5, k6, k7] = *subkey;
        let mut rows = [[0; MAX_LANES]; 3];
        for block in 0..blocks {
            let [n0, n1, t0, t1] = words(index * blocks + block);
            let quads = [[k3, t1, k7, k2], [t0, k6, k1, n1], [k5, k0, n0, k4]];
            for (row, quad) in rows.iter_mut().zip(quads) {
                row[4 * block..4 * block + 4].copy_from_slice(&quad);
            }
        }
        *b = V::load(isa, &rows[0]);
        *c = V::load(isa, &rows[1]);
        *d = V::load(isa, &rows[2]);
    }
    let mut state = start;
    for _ in 0..20 {
        for rows in &mut state {
            round(rows);
        }
    }
    for (rows, start) in state.iter_mut().zip(start) {
        for (row, start) in rows.iter_mut().zip(start) {
            *row = row.add(start);
        }
        *rows = blocks_of(isa, *rows);
    }
    state
}

/// A round, and the step from columns to rows or back, which is the same one.
#[inline(always)]
fn round<V: Vector>(rows: &mut [V; 4]) {
    let [mut a, mut b, mut c, mut d] = *rows;
    b = b.xor(a.add(d).rotate_right::<25, 7>());
    c = c.xor(b.add(a).rotate_right::<23, 9>());
    d = d.xor(c.add(b).rotate_right::<19, 13>());
    a = a.xor(d.add(c).rotate_right::<14, 18>());
    *rows = [
        a,
        d.rotate_quads::<1>(),
        c.rotate_quads::<2>(),
        b.rotate_quads::<3>(),
    ];
}

/// From vectors of the columns to blocks, one after the other.
#[inline(always)]
fn blocks_of<V: Vector>(isa: V::Isa, [a, b, c, d]: [V; 4]) -> [V; 4] {
    let even = V::splat_quad(isa, [!0, 0, !0, 0]);
    let front = V::splat_quad(isa, [!0, !0, 0, 0]);
    let (ad, dc) = (a.select(even, d), d.select(even, c));
    let (cb, ba) = (c.select(even, b), b.select(even, a));
    V::rows_to_blocks([
        ad.select(front, cb),
        ba.select(front, dc),
        cb.select(front, ad),
        dc.select(front, ba),
    ])
}
