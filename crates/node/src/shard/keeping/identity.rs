//! Who a kept session belongs to, as bytes: one for the voucher, then the name.

use lapwing_access::{Identity, Voucher};

/// By number in the log; numbers are for ever.
const VOUCHERS: [Voucher; 4] = [Voucher::Nobody, Voucher::Users, Voucher::Certificate, Voucher::Hook];
/// As much as an entry takes.
const BYTES_MAX: usize = 1024;
/// The longest name of an identity: nobody with a longer one is let in, for its session could not be kept.
pub(crate) const NAME_BYTES_MAX: usize = BYTES_MAX - 1;

/// The identity as bytes; `None`: its name is longer than [`NAME_BYTES_MAX`].
pub(crate) fn encode(identity: &Identity) -> Option<Vec<u8>> {
    let number = VOUCHERS.iter().position(|voucher| *voucher == identity.voucher())?;
    let name = identity.name().unwrap_or_default();
    let bytes = [&[number as u8], name.as_bytes()].concat();
    (bytes.len() <= BYTES_MAX).then_some(bytes)
}

/// The identity that these bytes name; `None`: they name none.
pub(super) fn decode(bytes: &[u8]) -> Option<Identity> {
    let (number, name) = bytes.split_first()?;
    let voucher = *VOUCHERS.get(usize::from(*number))?;
    let name = std::str::from_utf8(name).ok()?;
    Some(if name.is_empty() { Identity::ANONYMOUS } else { Identity::named(name, voucher) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does everybody come back as who they were, and is a name beyond the bound refused?
    #[test]
    fn there_and_back() {
        let somebody = [Identity::ANONYMOUS, Identity::named("a", Voucher::Users), Identity::named("ü", Voucher::Hook)];
        for identity in somebody {
            let again = encode(&identity).and_then(|bytes| decode(&bytes)).expect("as written");
            assert_eq!((again.name(), again.voucher()), (identity.name(), identity.voucher()));
        }
        assert!(encode(&Identity::named("x".repeat(NAME_BYTES_MAX), Voucher::Users)).is_some());
        assert!(encode(&Identity::named("x".repeat(NAME_BYTES_MAX + 1), Voucher::Users)).is_none());
        assert!(decode(&[]).is_none() && decode(&[9]).is_none() && decode(&[1, 0xff]).is_none());
    }
}
