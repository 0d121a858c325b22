//! Who a kept session belongs to, as bytes: one for the voucher, then the name.

use lapwing_access::{Grant, Identity, OwnRules, Voucher};

/// By number in the log; numbers are for ever.
const KINDS: [Kind; 8] = [
    (Voucher::Nobody, false),
    (Voucher::Users, false),
    (Voucher::Certificate, false),
    (Voucher::Hook, false),
    (Voucher::Token, false),
    (Voucher::Token, true),
    (Voucher::Check, false),
    (Voucher::Check, true),
];
/// Who vouched, and whether rules came with the name: that they did is kept, and not which.
type Kind = (Voucher, bool);
/// As much as an entry takes.
const BYTES_MAX: usize = 1024;
/// The longest name of an identity: nobody with a longer one is let in, for its session could not be kept.
pub(crate) const NAME_BYTES_MAX: usize = BYTES_MAX - 1;

/// The identity as bytes; `None`: its name is longer than [`NAME_BYTES_MAX`].
pub(crate) fn encode(identity: &Identity) -> Option<Vec<u8>> {
    let kind = (identity.voucher(), identity.own_rules().are_there());
    let number = KINDS.iter().position(|other| *other == kind)?;
    let name = identity.name().unwrap_or_default();
    let bytes = [&[number as u8], name.as_bytes()].concat();
    (bytes.len() <= BYTES_MAX).then_some(bytes)
}

/// The identity that these bytes name; `None`: they name none.
pub(super) fn decode(bytes: &[u8]) -> Option<Identity> {
    let (number, name) = bytes.split_first()?;
    let (voucher, has_rules) = *KINDS.get(usize::from(*number))?;
    let name = std::str::from_utf8(name).ok()?;
    Some(match has_rules {
        _ if name.is_empty() => Identity::ANONYMOUS,
        false => Identity::named(name, voucher),
        true => Identity::granted(name, voucher, Grant { rules: OwnRules::Lost, ..Grant::default() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does everybody come back as who they were, and is a name beyond the bound refused?
    #[test]
    fn there_and_back() {
        let with_rules = Grant { rules: OwnRules::Lost, ..Grant::default() };
        let somebody = [
            Identity::ANONYMOUS,
            Identity::named("a", Voucher::Users),
            Identity::named("ü", Voucher::Hook),
            Identity::granted("t", Voucher::Token, Grant::default()),
            Identity::granted("r", Voucher::Token, with_rules),
        ];
        for identity in somebody {
            let again = encode(&identity).and_then(|bytes| decode(&bytes)).expect("as written");
            assert_eq!((again.name(), again.voucher()), (identity.name(), identity.voucher()));
            assert_eq!(again.own_rules().are_there(), identity.own_rules().are_there());
        }
        assert!(encode(&Identity::named("x".repeat(NAME_BYTES_MAX), Voucher::Users)).is_some());
        assert!(encode(&Identity::named("x".repeat(NAME_BYTES_MAX + 1), Voucher::Users)).is_none());
        assert!(decode(&[]).is_none() && decode(&[9]).is_none() && decode(&[1, 0xff]).is_none());
    }
}
