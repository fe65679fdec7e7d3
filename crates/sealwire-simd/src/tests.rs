//! The vectors of every instruction set that this CPU has, against plain words.

use crate::blocks::{Blocks, gather_blocks, scatter_blocks, splat_words};
use crate::vector::{Isa, MAX_LANES, Vector};
use std::vec::Vec;

/// Words that have nothing in common.
fn words(seed: u32) -> [u32; MAX_LANES] {
    core::array::from_fn(|i| (i as u32 + seed).wrapping_mul(0x9e37_79b9) ^ seed)
}

fn stored<V: Vector>(vector: V) -> Vec<u32> {
    let mut words = [0; MAX_LANES];
    vector.store(&mut words);
    let mut bytes = [0; 4 * MAX_LANES];
    vector.store_bytes(&mut bytes);
    let of_bytes = bytes
        .as_chunks()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word));
    assert!(of_bytes.eq(words));
    assert_eq!(words[V::LANES..], [0; MAX_LANES][V::LANES..]);
    words[..V::LANES].to_vec()
}

fn rotates_right<V: Vector, const RIGHT: i32, const LEFT: i32>(isa: V::Isa) {
    let rotated = stored(V::load(isa, &words(5)).rotate_right::<RIGHT, LEFT>());
    let expected = words(5).map(|word| word.rotate_right(RIGHT as u32));
    assert_eq!(rotated, expected[..V::LANES], "by {RIGHT}");
}

fn turns_quads<V: Vector, const BY: i32>(isa: V::Isa) {
    let turned = stored(V::load(isa, &words(6)).rotate_quads::<BY>());
    for (index, word) in turned.into_iter().enumerate() {
        let from = index / 4 * 4 + (index + BY as usize) % 4;
        assert_eq!(word, words(6)[from], "by {BY}");
    }
}

fn calculates<V: Vector>(isa: V::Isa) {
    let (a, b, mask) = (words(1), words(2), words(3));
    let [va, vb, vmask] = [a, b, mask].map(|words| V::load(isa, &words));
    for lane in 0..V::LANES {
        assert_eq!(stored(va.add(vb))[lane], a[lane].wrapping_add(b[lane]));
        assert_eq!(stored(va.xor(vb))[lane], a[lane] ^ b[lane]);
        // Whole words, as every caller has them.
        let mask = if mask[lane] % 2 == 0 { u32::MAX } else { 0 };
        let selected = stored(va.select(V::splat(isa, mask), vb))[lane];
        assert_eq!(selected, if mask == 0 { b[lane] } else { a[lane] });
    }
    let bytes: Vec<u8> = mask.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(stored(V::load_bytes(isa, &bytes)), stored(vmask));
    let quads = stored(V::splat_quad(isa, [9, 8, 7, 6]));
    assert_eq!(quads, [9, 8, 7, 6].repeat(V::LANES / 4));
    rotates_right::<V, 7, 25>(isa);
    rotates_right::<V, 8, 24>(isa);
    rotates_right::<V, 12, 20>(isa);
    rotates_right::<V, 16, 16>(isa);
    rotates_right::<V, 20, 12>(isa);
    rotates_right::<V, 24, 8>(isa);
    rotates_right::<V, 25, 7>(isa);
    turns_quads::<V, 1>(isa);
    turns_quads::<V, 2>(isa);
    turns_quads::<V, 3>(isa);
}

fn moves_blocks<V: Vector>(isa: V::Isa) {
    let blocks: [[u8; 64]; MAX_LANES] =
        core::array::from_fn(|lane| core::array::from_fn(|i| (lane * 64 + i * 3 + i / 16) as u8));
    let gathered = gather_blocks::<V>(isa, &blocks.each_ref());
    for (index, vector) in gathered.into_iter().enumerate() {
        for (lane, word) in stored(vector).into_iter().enumerate() {
            let expected = blocks[lane].as_chunks().0[index];
            assert_eq!(word, u32::from_le_bytes(expected), "word {index} of {lane}");
        }
    }
    let mut back = Blocks::new();
    scatter_blocks(gathered, &mut back);
    assert_eq!(back.0[..V::LANES], blocks[..V::LANES]);
    back.wipe::<V>(isa);
    assert_eq!(back.0, [[0; 64]; MAX_LANES]);
    for (index, vector) in splat_words::<V>(isa, &[1, 2, 3, 4, 5, 6, 7, 8])
        .into_iter()
        .enumerate()
    {
        assert_eq!(stored(vector), std::vec![index as u32 + 1; V::LANES]);
    }
}

/// Tests the vectors of an instruction set, where the CPU has it.
fn agree<I: Isa>(isa: Option<I>) {
    let Some(isa) = isa else {
        std::eprintln!("skipped: this CPU does not have the instructions");
        return;
    };
    calculates::<I::Narrow>(isa);
    calculates::<I::Middle>(isa);
    calculates::<I::Wide>(isa);
    moves_blocks::<I::Narrow>(isa);
    moves_blocks::<I::Middle>(isa);
    moves_blocks::<I::Wide>(isa);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_of_x86_are_words() {
    agree(crate::Sse2::detect());
    agree(crate::Sse41::detect());
    agree(crate::Avx2::detect());
    agree(crate::Avx512::detect());
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
#[test]
fn vectors_of_neon_are_words() {
    agree(crate::Neon::detect());
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[test]
fn vectors_of_simd128_are_words() {
    agree(crate::Simd128::detect());
}
