//! The duplex: absorb, squeeze, encrypt and decrypt over the permutation, with framing and padding.
//!
//! A state of 128 bytes: a rate of 94 that inputs and outputs go through, two for framing and
//! padding, and a capacity of 32 that nothing touches but the permutation.
//!
//! Input of the rate is not XORed into the state at once but collected beside it
//! ([`Core::pending`]) until the next permutation. Encryption, decryption and squeezing fit in: each
//! changes the state by XOR with something. So between permutations the state is only read, short
//! pieces never wait for each other, and the kernels take everything over in whole registers.

mod back_end;
pub(crate) mod batch;
mod blocks;
mod bytes;
#[cfg(test)]
pub(crate) mod every_back_end;
mod kernels;
#[cfg_attr(
    not(all(
        target_arch = "x86_64",
        not(any(sealwire_portable, feature = "portable"))
    )),
    expect(dead_code, reason = "no back end yet")
)]
mod side_by_side;
mod state;

use crate::permutation::WIDTH;
use bytes::{read_word, xor_with};
use state::{CAPACITY, Core, LAST_PADDING, PENDING_WORDS, RATE};
pub use state::{TAG_SIZE, Tag};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Size of an encoded state in bytes: both indices and the state.
pub(crate) const ENCODED_SIZE: usize = 2 + WIDTH;

/// A duplex over Simpira-1024.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Duplex {
    core: Core,
    /// Bytes of this block that were absorbed or squeezed, below [`RATE`].
    rate_index: u8,
    /// Where the frame began in this block.
    frame_index: u8,
}

impl Duplex {
    /// All zeros.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            core: Core::new(),
            rate_index: 0,
            frame_index: 0,
        }
    }

    /// Where the next byte goes.
    #[inline]
    const fn position(&self) -> usize {
        self.rate_index as usize
    }

    /// The rest of this block.
    #[inline]
    const fn room(&self) -> usize {
        RATE - self.position()
    }

    /// XORs the bytes of `value`, a little-endian number, to the pending block from `position` on.
    /// What lies behind the block must be zero.
    #[inline(always)]
    const fn put(&mut self, position: usize, value: u64) {
        let (word, shift) = (position / 8, position % 8 * 8);
        self.core.pending[word % PENDING_WORDS] ^= value << shift;
        // In two steps, as a shift by all 64 bits is none.
        self.core.pending[(word + 1) % PENDING_WORDS] ^= value >> 1 >> (63 - shift);
    }

    /// Writes the frame index and the padding behind what this block has so far. The kernel that is
    /// called next begins with the permutation.
    #[inline(always)]
    const fn pad(&mut self) {
        self.put(self.position(), self.frame_index as u64 | 0x01 << 8);
        self.core.pending[LAST_PADDING / 8] ^= 0x80 << (LAST_PADDING % 8 * 8);
        self.rate_index = 0;
        self.frame_index = 0;
    }

    /// Ends the block: pads it and permutes.
    #[inline(never)]
    pub(crate) fn permute(&mut self) {
        self.pad();
        self.core.absorb(&[]);
    }

    /// Takes `input` into the state.
    ///
    /// Two calls are the same as one with both inputs.
    #[inline(always)]
    pub(crate) fn absorb(&mut self, input: &[u8]) {
        if input.len() < self.room() {
            self.absorb_short(input);
        } else {
            self.absorb_long(input);
        }
    }

    /// Takes in what does not fill the block.
    #[inline(always)]
    fn absorb_short(&mut self, input: &[u8]) {
        self.collect(input);
        self.rate_index += input.len() as u8;
    }

    /// Writes `input`, which fits, to the pending block.
    #[inline(always)]
    fn collect(&mut self, input: &[u8]) {
        let (mut word, shift) = (self.position() / 8, self.position() % 8 * 8);
        let mut begun = self.core.pending[word % PENDING_WORDS];
        let (chunks, rest) = input.as_chunks();
        for chunk in chunks {
            let value = u64::from_le_bytes(*chunk);
            self.core.pending[word % PENDING_WORDS] = begun ^ value << shift;
            begun = value >> 1 >> (63 - shift);
            word += 1;
        }
        if !rest.is_empty() {
            let value = read_word(rest);
            self.core.pending[word % PENDING_WORDS] = begun ^ value << shift;
            begun = value >> 1 >> (63 - shift);
            word += 1;
        }
        self.core.pending[word % PENDING_WORDS] = begun;
    }

    #[inline(never)]
    fn absorb_long(&mut self, input: &[u8]) {
        let (first, rest) = input.split_at(self.room());
        self.collect(first);
        self.rate_index = RATE as u8;
        let (blocks, tail) = rest.as_chunks();
        self.pad();
        self.core.absorb(blocks);
        self.absorb_short(tail);
    }

    /// Takes in one byte.
    #[inline]
    pub(crate) fn absorb_byte(&mut self, byte: u8) {
        self.put(self.position(), byte.into());
        self.rate_index += 1;
        if self.position() == RATE {
            self.permute();
        }
    }

    /// Takes in `value` as LEB128.
    #[inline]
    pub(crate) fn absorb_leb128(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.absorb_byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.absorb_byte(value as u8);
    }

    /// Begins a frame with the byte `id`: takes in where the last one began, then `id`.
    #[inline]
    pub(crate) fn frame(&mut self, id: u8) {
        self.absorb_byte(self.frame_index);
        self.frame_index = self.rate_index;
        self.absorb_byte(id);
    }

    /// The header of an operation: a frame with its code and its label, then a frame for its data.
    #[inline(always)]
    pub(crate) fn absorb_header(&mut self, code: u8, label: &[u8]) {
        let length = label.len();
        if length + 4 < self.room() {
            let position = self.position();
            let begin = u64::from(self.frame_index) | u64::from(code) << 8;
            let end = u64::from(self.rate_index + 1) | u64::from(code | 0x80) << 8;
            if length <= 4 {
                // One word, most of which is known when the program is compiled.
                let label = if length == 0 { 0 } else { read_word(label) };
                let header = begin | label << 16 | end << (16 + 8 * length);
                self.put(position, header);
            } else {
                self.put(position, begin);
                self.rate_index += 2;
                self.collect(label);
                self.put(position + 2 + length, end);
            }
            self.frame_index = (position + 3 + length) as u8;
            self.rate_index = (position + 4 + length) as u8;
        } else {
            self.absorb_long_header(code, label);
        }
    }

    /// A header that reaches the end of the block.
    #[inline(never)]
    fn absorb_long_header(&mut self, code: u8, label: &[u8]) {
        self.frame(code);
        self.absorb(label);
        self.frame(code | 0x80);
    }

    /// Takes in the length of `output`, ends the block and gives bytes of the rate, which become zero in the
    /// state.
    #[inline(always)]
    pub(crate) fn squeeze_with_length(&mut self, output: &mut [u8]) {
        let length = output.len() as u64;
        if self.room() == 1 && length < 0x80 {
            // The length fills the block, and nothing is in the next one: both permutations in one kernel.
            self.put(self.position(), length);
            self.rate_index += 1;
            self.pad();
            self.core.squeeze_behind_empty(output);
            self.rate_index = (output.len() % RATE) as u8;
        } else {
            self.absorb_leb128(length);
            self.permute_and_squeeze(output);
        }
    }

    /// Ends the block and gives bytes of the rate, which become zero in the state.
    #[inline(always)]
    pub(crate) fn permute_and_squeeze(&mut self, output: &mut [u8]) {
        self.pad();
        self.core.squeeze(output);
        self.rate_index = (output.len() % RATE) as u8;
    }

    /// Encrypts `text`, and takes the ciphertext into the state.
    #[inline]
    pub(crate) fn encrypt(&mut self, text: &mut [u8]) {
        let (first, rest) = text.split_at_mut(self.room().min(text.len()));
        self.encrypt_short(first);
        if self.position() == RATE {
            self.permute_and_encrypt(rest);
        }
    }

    /// Ends the block, then encrypts.
    #[inline(always)]
    pub(crate) fn permute_and_encrypt(&mut self, text: &mut [u8]) {
        self.pad();
        self.core.encrypt(text, None);
        self.rate_index = (text.len() % RATE) as u8;
    }

    /// Encrypts what fits into this block.
    #[inline]
    fn encrypt_short(&mut self, text: &mut [u8]) {
        let position = self.position();
        self.collect(text);
        xor_with(text, &self.core.state[position..][..text.len()]);
        self.rate_index += text.len() as u8;
    }

    /// Decrypts `text`, and takes the ciphertext into the state.
    #[inline]
    pub(crate) fn decrypt(&mut self, text: &mut [u8]) {
        let (first, rest) = text.split_at_mut(self.room().min(text.len()));
        self.decrypt_short(first);
        if self.position() == RATE {
            self.permute_and_decrypt(rest);
        }
    }

    /// Ends the block, then decrypts.
    #[inline(always)]
    pub(crate) fn permute_and_decrypt(&mut self, text: &mut [u8]) {
        self.pad();
        self.core.decrypt(text, None);
        self.rate_index = (text.len() % RATE) as u8;
    }

    /// Decrypts what fits into this block.
    #[inline]
    fn decrypt_short(&mut self, text: &mut [u8]) {
        let position = self.position();
        xor_with(text, &self.core.state[position..][..text.len()]);
        self.absorb_short(text);
    }

    /// Ends the block, encrypts `text`, ends that block too and gives a tag.
    #[inline(always)]
    pub(crate) fn seal(&mut self, text: &mut [u8]) -> Tag {
        self.pad();
        let mut tag = [0; TAG_SIZE];
        self.core.encrypt(text, Some(&mut tag));
        self.rate_index = TAG_SIZE as u8;
        tag
    }

    /// What [`seal`](Self::seal) undoes: decrypts `text` and gives the tag that it should have.
    #[inline(always)]
    pub(crate) fn open(&mut self, text: &mut [u8]) -> Tag {
        self.pad();
        let mut tag = [0; TAG_SIZE];
        self.core.decrypt(text, Some(&mut tag));
        self.rate_index = TAG_SIZE as u8;
        tag
    }

    /// Destroys as many bytes of the rate as the capacity has, so that nobody can go back.
    pub(crate) fn ratchet(&mut self) {
        if self.rate_index > 0 {
            self.permute();
        }
        self.core.state[..CAPACITY].fill(0);
        self.rate_index = CAPACITY as u8;
    }

    /// The state with everything that is pending.
    fn settled(&self) -> [u8; WIDTH] {
        let mut state = self.core.state;
        let (words, _) = state.as_chunks_mut();
        for (word, pending) in words.iter_mut().zip(self.core.pending) {
            *word = (u64::from_le_bytes(*word) ^ pending).to_le_bytes();
        }
        state
    }

    /// Both indices, then the state.
    pub(crate) fn encode(&self) -> [u8; ENCODED_SIZE] {
        let mut encoded = [0; ENCODED_SIZE];
        encoded[0] = self.rate_index;
        encoded[1] = self.frame_index;
        let mut state = self.settled();
        encoded[2..].copy_from_slice(&state);
        state.zeroize();
        encoded
    }

    /// What [`encode`](Self::encode) gave; `None` if an index lies outside of the rate.
    pub(crate) fn decode(encoded: &[u8; ENCODED_SIZE]) -> Option<Self> {
        let [rate_index, frame_index, state @ ..] = encoded;
        if usize::from(*rate_index) >= RATE || usize::from(*frame_index) >= RATE {
            return None;
        }
        let mut duplex = Self::new();
        duplex.core.state = *state;
        duplex.rate_index = *rate_index;
        duplex.frame_index = *frame_index;
        Some(duplex)
    }
}

impl ConstantTimeEq for Duplex {
    fn ct_eq(&self, other: &Self) -> Choice {
        let (mut ours, mut theirs) = (self.settled(), other.settled());
        let equal = ours.ct_eq(&theirs)
            & self.rate_index.ct_eq(&other.rate_index)
            & self.frame_index.ct_eq(&other.frame_index);
        ours.zeroize();
        theirs.zeroize();
        equal
    }
}

impl ZeroizeOnDrop for Duplex {}

#[cfg(test)]
mod tests;
