//! Questions about eight bytes at a time.
//!
//! The strings of MQTT are short: topics, names, values of some twenty bytes. A call into a SIMD validator costs more
//! than the string; eight bytes in a register, asked all questions at once, do not. Only the standard instruction set is
//! needed, so every build gains.

const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const HIGH: u64 = !LOW;
/// Stands for bytes behind the end: ASCII, and no question asks for it.
const FILL: u64 = splat(b'.');

/// Calls `ask` with all of `bytes`, eight at a time; the last word is filled up with `.`.
#[inline(always)]
pub(crate) fn for_each_word(bytes: &[u8], mut ask: impl FnMut(u64)) {
    let mut words = bytes.chunks_exact(8);
    for word in words.by_ref() {
        let mut chunk = [0; 8];
        chunk.copy_from_slice(word);
        ask(u64::from_le_bytes(chunk));
    }
    let used_bits = 8 * words.remainder().len() as u32;
    if used_bits == 0 {
        return;
    }
    ask(FILL << used_bits
        | match bytes.last_chunk::<8>() {
            // Read the last eight bytes again and shift those out that were seen.
            Some(last) => u64::from_le_bytes(*last) >> (64 - used_bits),
            None => words.remainder().iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        });
}

/// The high bit of each byte that is above 0x7F.
#[inline(always)]
pub(crate) const fn not_ascii(word: u64) -> u64 {
    word & HIGH
}

/// The high bit of each byte that equals `byte`; exact, because sums of seven bits do not carry into their neighbour.
#[inline(always)]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ splat(byte);
    !(((difference & LOW) + LOW) | difference | LOW)
}

/// `byte`, eight times.
#[inline(always)]
pub(crate) const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}
