//! Property identifiers of MQTT 5.0, section 2.2.2.2.

pub(crate) const SUBSCRIPTION_IDENTIFIER: u8 = 0x0B;
pub(crate) const USER_PROPERTY: u8 = 0x26;

/// Splits the first property off validated bytes: (identifier, value, rest).
pub(crate) fn split_validated(raw: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&id, rest) = raw.split_first()?;
    let len = match id {
        0x01 | 0x17 | 0x19 | 0x24 | 0x25 | 0x28 | 0x29 | 0x2A => 1,
        0x13 | 0x21 | 0x22 | 0x23 => 2,
        0x02 | 0x11 | 0x18 | 0x27 => 4,
        SUBSCRIPTION_IDENTIFIER => 1 + rest.iter().position(|byte| byte & 0x80 == 0)?,
        USER_PROPERTY => {
            let name = 2 + string_len(rest)?;
            name + 2 + string_len(rest.get(name..)?)?
        }
        _ => 2 + string_len(rest)?,
    };
    let (value, rest) = rest.split_at_checked(len)?;
    Some((id, value, rest))
}

/// Splits the value of a validated user property into name and value.
pub(crate) fn split_pair_validated(pair: &[u8]) -> Option<(&str, &str)> {
    let (name, value) = pair.get(2..)?.split_at_checked(string_len(pair)?)?;
    Some((std::str::from_utf8(name).ok()?, std::str::from_utf8(value.get(2..)?).ok()?))
}

fn string_len(bytes: &[u8]) -> Option<usize> {
    let (len, _) = bytes.split_first_chunk::<2>()?;
    Some(usize::from(u16::from_be_bytes(*len)))
}
