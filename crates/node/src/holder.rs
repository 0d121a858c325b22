//! To whom something in a table of the whole node counts.

use std::num::NonZeroU64;

use lapwing_access::Identity;

use crate::passwords::Source;
use crate::slot::stable_hash;

/// A name by its hash; of the anonymous one client by its id, one address, or all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder(NonZeroU64);

/// All that is anonymous begins with these 16 bits, and no name: so a holder in the log says which of them it is.
const ANONYMOUS: u64 = 0xffff << 48;

/// The anonymous together.
const NOBODY: NonZeroU64 = NonZeroU64::MAX;

impl Holder {
    /// An identity; the anonymous are one.
    pub(crate) fn of(identity: &Identity) -> Self {
        identity.name().map_or(Holder(NOBODY), Self::with_name)
    }

    /// Who has this name, or else the anonymous client of this id: many ids at one address are bounded by its share of sessions.
    pub(crate) fn of_client(name: Option<&str>, client_id: &str) -> Self {
        name.map_or_else(|| Self::without_name(client_id.as_bytes()), Self::with_name)
    }

    /// Who has this name, or else whoever comes from there.
    pub(crate) fn from(name: Option<&str>, source: Source) -> Self {
        name.map_or_else(|| Self::without_name(source.to_string().as_bytes()), Self::with_name)
    }

    /// Of what counts to an identity: the anonymous are one.
    pub(crate) fn identity(self) -> Self {
        let is_anonymous = self.0.get() & ANONYMOUS == ANONYMOUS;
        if is_anonymous { Holder(NOBODY) } else { self }
    }

    /// Under whom is counted what it has: itself, and its identity where that has a share of its own.
    pub(crate) fn counted(self, by_identity: bool) -> impl Iterator<Item = Self> + use<> {
        let identity = Some(self.identity()).filter(|identity| by_identity && *identity != self);
        [self].into_iter().chain(identity)
    }

    fn with_name(name: &str) -> Self {
        let hash = stable_hash(name.as_bytes());
        let hash = if hash & ANONYMOUS == ANONYMOUS { hash ^ 1 << 63 } else { hash };
        Holder(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
    }

    fn without_name(other: &[u8]) -> Self {
        Holder(NonZeroU64::new(ANONYMOUS | stable_hash(other) >> 16).unwrap_or(NOBODY))
    }

    /// As the log has it.
    pub(crate) const fn logged(self) -> NonZeroU64 {
        self.0
    }

    pub(crate) const fn from_log(logged: NonZeroU64) -> Self {
        Holder(logged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_access::Voucher;

    /// Is a name the same holder whichever its client, an anonymous client one of its own, and all of those one identity; also
    /// when it comes from the log, and where the log has them as one?
    #[test]
    fn the_anonymous_are_one_identity_and_many_holders() {
        let alice = Holder::of(&Identity::named("alice", Voucher::Users));
        assert_eq!([Holder::of_client(Some("alice"), "a"), alice.identity()], [alice; 2]);
        let [a, b] = ["a", "b"].map(|id| Holder::of_client(None, id));
        let nobody = Holder::of(&Identity::ANONYMOUS);
        assert!(a != b && a != nobody && a != Holder::of_client(Some("a"), "a"));
        assert_eq!([a, b, nobody].map(|holder| Holder::from_log(holder.logged()).identity()), [nobody; 3]);
    }

    /// Is whoever has no name one holder from every port of an address, and who has one the same from everywhere?
    #[test]
    fn where_there_is_no_name_the_address_counts() {
        let from = |name, address: &str| Holder::from(name, Source::parse(address).expect("an address"));
        assert_eq!(from(None, "2001:db8::1"), from(None, "2001:db8::2"));
        assert_ne!(from(None, "192.0.2.1"), from(None, "192.0.2.2"));
        assert_eq!(from(Some("a"), "192.0.2.1"), from(Some("a"), "local"));
        assert_ne!(from(Some("a"), "local"), from(None, "local"));
    }

    /// Is a name whose hash looks like the anonymous none of them?
    #[test]
    fn a_name_is_nobody_in_no_case() {
        let unlucky = "user-30790";
        assert_eq!(stable_hash(unlucky.as_bytes()) & ANONYMOUS, ANONYMOUS);
        let holder = Holder::of_client(Some(unlucky), "c");
        assert!(holder.identity() == holder && holder.counted(true).eq([holder]));
    }
}
