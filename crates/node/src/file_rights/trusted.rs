//! Whom a broker trusts with its files: itself, root, its private group, and whoever has no number in a container.

use std::fs::read_to_string;

/// Who may write: root, the broker's own account, and groups that nobody else is in.
#[derive(Clone, Debug)]
pub struct Trusted {
    uids: Vec<u32>,
    gids: Vec<u32>,
}

impl Trusted {
    /// Those whom the account `uid` trusts. `private_group`: its group, where [`is_private_group`] holds of it.
    pub fn by(uid: u32, private_group: Option<u32>) -> Self {
        Trusted::exactly([0, uid].into_iter().chain(nobody_here()), [0].into_iter().chain(private_group))
    }

    pub(super) fn exactly(uids: impl IntoIterator<Item = u32>, gids: impl IntoIterator<Item = u32>) -> Self {
        Trusted { uids: uids.into_iter().collect(), gids: gids.into_iter().collect() }
    }

    pub(super) fn has_user(&self, uid: u32) -> bool {
        self.uids.contains(&uid)
    }

    pub(super) fn has_group(&self, gid: u32) -> bool {
        self.gids.contains(&gid)
    }
}

/// Whether a group is one that has the account's name and no other member, as Linux distributions make one for each account.
pub fn is_private_group(account: &str, group: &str, members: &[impl AsRef<str>]) -> bool {
    group == account && members.iter().all(|member| member.as_ref() == account)
}

/// The uid that this user namespace shows for owners outside of it (the host's root, say); none without one.
fn nobody_here() -> Option<u32> {
    let overflow = read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()?;
    outside(overflow, &read_to_string("/proc/self/uid_map").ok()?)
}

/// `overflow`, unless it is a user of the namespace itself: its first uid inside, outside, and how many, a line for each range.
fn outside(overflow: u32, uid_map: &str) -> Option<u32> {
    let is_user = uid_map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&u64::from(overflow)))
    });
    (!is_user).then_some(overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is nobody's uid somebody else's only where no user of the namespace has it?
    #[test]
    fn nobody_is_trusted_in_a_namespace_only() {
        assert_eq!(outside(65_534, "         0          0 4294967295\n"), None);
        assert_eq!(outside(65_534, "         0     100000      65536\n"), None);
        assert_eq!(outside(65_534, "         0       1000          1\n         1     100000      65536\n"), None);
        assert_eq!(outside(65_534, "         0       1000          1\n"), Some(65_534));
        assert_eq!(outside(65_534, ""), Some(65_534));
    }

    /// Are root and the account trusted, and of groups only root's and the one that is given?
    #[test]
    fn root_and_the_account() {
        let trusted = Trusted::by(54_321, None);
        assert!(trusted.has_user(0) && trusted.has_user(54_321) && !trusted.has_user(54_322));
        assert!(trusted.has_group(0) && !trusted.has_group(54_321));
        assert!(Trusted::by(54_321, Some(54_322)).has_group(54_322));
    }

    /// Is a group with another name or another member nobody's own?
    #[test]
    fn private_groups() {
        assert!(is_private_group("a", "a", &[""; 0]) && is_private_group("a", "a", &["a"]));
        assert!(!is_private_group("a", "users", &[""; 0]) && !is_private_group("a", "a", &["a", "b"]));
    }
}
