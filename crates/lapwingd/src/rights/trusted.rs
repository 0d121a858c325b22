//! Whom this process trusts: itself, root, its private group, and whoever has no number in a container.

use std::collections::HashSet;
use std::fs::read_to_string;

use super::verdict::Trusted;
use crate::system::user_id;

pub(super) fn trusted() -> Trusted {
    let uid = user_id();
    let mut uids = HashSet::from([0, uid]);
    uids.extend(nobody_here());
    let mut gids = HashSet::from([0]);
    gids.extend(private_group(uid));
    Trusted { uids, gids }
}

/// The group that has the account's name and no other member, as Linux distributions make one for each account.
fn private_group(uid: u32) -> Option<u32> {
    // Read as files: an account that lies elsewhere (LDAP) has no private group here, and is asked to say so.
    let accounts = read_to_string("/etc/passwd").ok()?;
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let account = accounts.lines().map(fields).find(|found| found.len() > 3 && found[2] == uid.to_string())?;
    let groups = read_to_string("/etc/group").ok()?;
    let group = groups.lines().map(fields).find(|found| found.len() > 3 && found[2] == account[3])?;
    let is_private = group[0] == account[0] && group[3].split(',').all(|name| name.is_empty() || name == account[0]);
    if is_private { group[2].parse().ok() } else { None }
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

    #[test]
    fn nobody_is_trusted_in_a_namespace_only() {
        assert_eq!(outside(65_534, "         0          0 4294967295\n"), None);
        assert_eq!(outside(65_534, "         0     100000      65536\n"), None);
        assert_eq!(outside(65_534, "         0       1000          1\n"), Some(65_534));
    }

    #[test]
    fn this_process_trusts_itself() {
        assert!(trusted().uids.contains(&user_id()));
    }
}
