//! What the tests of this room share: bytes written as text.

/// Reads hexadecimal bytes, with strings between quotes: `10 0C 0004 'MQTT' 04`. Spaces mean nothing outside quotes.
///
/// `LEN` is not computed: the tables are what stands on the wire, to the letter.
pub fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, part) in text.split('\'').enumerate() {
        if index % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        let digits: Vec<u8> = part.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        assert!(digits.len().is_multiple_of(2), "half a byte in {text}");
        for pair in digits.chunks(2) {
            let pair = std::str::from_utf8(pair).expect("ASCII");
            out.push(u8::from_str_radix(pair, 16).expect("hexadecimal"));
        }
    }
    out
}
