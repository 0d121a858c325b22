//! The limit of open files: one client is one socket is one file.

use crate::error::SwarmError;
use std::io;

/// Files the swarm and its interpreter need beside the clients' sockets.
const OWN_FILES: u64 = 64;

/// Raises the soft limit of open files to the hard one and checks that `clients` fit.
///
/// # Errors
/// `Files`: more clients than one process may hold; says how many processes would do.
pub fn make_room_for(clients: u64) -> Result<(), SwarmError> {
    check(clients, raise_limit()?)
}

/// Raises the soft limit of open files to the hard one; gives what holds then.
///
/// # Errors
/// `System`: the limit cannot be read.
pub fn raise_limit() -> Result<u64, SwarmError> {
    raise().map_err(SwarmError::system("cannot read the limit of open files"))
}

fn check(clients: u64, limit: u64) -> Result<(), SwarmError> {
    let needed = clients + OWN_FILES;
    if needed <= limit {
        return Ok(());
    }
    let each = limit.saturating_sub(OWN_FILES).max(1);
    Err(SwarmError::Files { clients, needed, limit, processes: clients.div_ceil(each) })
}

/// Sets the soft limit to the hard limit; returns what holds then.
fn raise() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer; the call keeps no pointer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max };
    // SAFETY: `raised` is read during the call only.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0 {
        return Ok(raised.rlim_cur);
    }
    // A sandbox may forbid even this; what we have then has to do.
    Ok(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a fleet that is too large hear how many processes it needs?
    #[test]
    fn says_how_many_processes() {
        assert!(check(19_936, 20_000).is_ok());
        match check(50_000, 20_000) {
            Err(SwarmError::Files { needed: 50_064, limit: 20_000, processes: 3, .. }) => {}
            other => panic!("{other:?}"),
        }
    }

    /// Is the soft limit the hard one afterwards?
    #[test]
    fn raises_the_soft_limit() -> io::Result<()> {
        assert_eq!(raise()?, raise()?);
        Ok(())
    }
}
