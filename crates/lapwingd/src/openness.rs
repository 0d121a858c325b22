//! No open door by accident: a listener that other machines can reach must know who connects.

use lapwing_node::{Config, IdentitySource};

use crate::fault::{Fault, Faults};

const OPEN: &str = "no open listener beyond loopback without authentication: listen on 127.0.0.1, [::1] or localhost; or \
    name the users (auth.users); or take tokens (auth.jwt), or ask somebody (auth.http); or make it a [[listeners]] table, \
    with client certificates that name the users, or with anonymous = true for whoever comes";

/// The node lets nobody in there, which is safe, and no use to anybody.
///
/// # Errors
/// There is no listener, or one that nobody could come through.
pub(crate) fn check(config: &Config) -> Result<(), Faults> {
    let mut faults = Faults::default();
    let knows_users = knows_somebody(config);
    let listeners = config.all_listeners();
    if listeners.is_empty() {
        faults.push(Fault::wrong("broker.listen is empty", "", "name an address, or add a [[listeners]] table"));
    }
    for listener in listeners {
        let names = listener.identity != IdentitySource::Password || listener.psk.is_some();
        if !knows_users && !names && !listener.takes_anonymous()? {
            faults.push(Fault::wrong(listener.url, "", OPEN));
        }
    }
    faults.or(())
}

/// Whether there is anything that a name and a password are checked against.
pub(crate) fn knows_somebody(config: &Config) -> bool {
    config.auth.users.is_some() || config.auth.jwt.is_some() || config.auth.outside.is_some()
}
