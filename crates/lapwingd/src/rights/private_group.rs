//! The account's own group, read in files.

use std::fs::read_to_string;

use lapwing_node::is_private_group;

/// Its number; None: the account has none here. One that lies elsewhere (LDAP) has none, and is asked to say so.
pub(super) fn private_group(uid: u32) -> Option<u32> {
    found(uid, &read_to_string("/etc/passwd").ok()?, &read_to_string("/etc/group").ok()?)
}

/// `passwd(5)`: name, password, uid, gid; `group(5)`: name, password, gid, members.
fn found(uid: u32, accounts: &str, groups: &str) -> Option<u32> {
    let account = line_with(accounts, 2, &uid.to_string())?;
    let group = line_with(groups, 2, account[3])?;
    let members: Vec<&str> = group[3].split(',').filter(|name| !name.is_empty()).collect();
    if is_private_group(account[0], group[0], &members) { group[2].parse().ok() } else { None }
}

fn line_with<'t>(text: &'t str, field: usize, value: &str) -> Option<Vec<&'t str>> {
    text.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|found| found.len() > 3 && found[field] == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the group found by the account's number, and only where nobody else is in it?
    #[test]
    fn it_is_found_in_files() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nlapwing:x:998:997::/:/bin/false\nother:x:999:100::/:/bin/sh\n";
        for (members, expected) in [("", Some(997)), ("lapwing", Some(997)), ("lapwing,eve", None)] {
            let groups = format!("root:x:0:\nusers:x:100:\nlapwing:x:997:{members}\n");
            assert_eq!(found(998, accounts, &groups), expected, "{members}");
            assert_eq!(found(999, accounts, &groups), None);
            assert_eq!(found(1, accounts, &groups), None);
        }
        assert_eq!(found(998, accounts, ""), None);
    }
}
