//! No open door by accident, and a line for what is left open: the node decides, as for the package; here it is told.

use lapwing_node::{Config, Entrance, NO_LISTENER, memory_notices, users_notice};

use crate::fault::{Fault, Faults};
use crate::system::user_id;

const ROOT: &str = "the broker runs as root: start it as another account";

/// `place`: where a key was set, if somebody has set it.
///
/// # Errors
/// There is no listener, or one that nobody guards, or that nobody could come through.
pub(crate) fn check(config: &Config, place: impl Fn(&[String]) -> Option<String>) -> Result<(), Faults> {
    let (entrance, mut faults) = (Entrance::of(config), Faults::default());
    if entrance.has_no_listener() {
        let listen = ["broker".to_owned(), "listen".to_owned()];
        faults.push(Fault::wrong("broker.listen is empty", place(&listen).unwrap_or_default(), NO_LISTENER));
    }
    for found in entrance.unguarded() {
        faults.push(Fault::wrong(found.url, place(&found.key).unwrap_or_default(), found.remedy));
    }
    faults.or(())
}

/// What a configuration leaves open that its writer may not have meant, the worst first, and limits that this machine is too
/// small for: a line each.
pub(crate) fn exposures(config: &Config) -> Vec<String> {
    let mut told: Vec<String> = (user_id() == 0).then(|| ROOT.to_owned()).into_iter().collect();
    told.extend(Entrance::of(config).exposures());
    let auth = &config.auth;
    let asks_others = auth.jwt.is_some() || auth.outside.is_some();
    let notice = users_notice(auth.users.as_ref().map(|users| users.iter().map(|user| &*user.name)), asks_others);
    told.extend(notice.map(|words| format!("auth.users {words}")));
    told.extend(memory_notices(&config.limits));
    told
}
