//! Bytes written down.

use lapwing_peer::Kind;

/// Bytes of hexadecimal digits; spaces do not count, 'quoted' parts stand for themselves, and `A0*32` is a byte 32 times.
pub fn bytes(hex: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, part) in hex.split('\'').enumerate() {
        if index % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        part.split_whitespace().for_each(|word| out.extend(word_bytes(word)));
    }
    out
}

fn word_bytes(word: &str) -> Vec<u8> {
    let (digits, times) = word.split_once('*').map_or((word, 1), |(digits, times)| (digits, times.parse().unwrap()));
    assert!(digits.len().is_multiple_of(2), "{word}");
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    (0..digits.len() / 2).map(byte).collect::<Vec<_>>().repeat(times)
}

/// A frame of version 1 around a body.
pub fn frame(kind: Kind, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..], &[kind.value(), 1, 0, 0], body].concat()
}
