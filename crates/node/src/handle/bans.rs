//! Who is kept out for wrong passwords: looked at, and let in again by order.

use super::Handle;
use crate::desk::reply;
use crate::error::NodeError;
use crate::passwords::{Bar, BarAsk};
use crate::secrets::without_secrets;

/// Who may not log in for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// From which it came, or the network of it.
    pub address: String,
    /// None: the address, whatever the name; a token in its place is `***`, as in the log.
    pub user: Option<String>,
    /// Wrong passwords.
    pub failures: u32,
    /// When it is over.
    pub ends_in_s: u64,
}

impl Handle {
    /// Whoever may not log in for now.
    ///
    /// # Errors
    /// `NoAnswer`: the node ends.
    pub fn bans(&self) -> Result<Vec<Ban>, NodeError> {
        let (reply, awaited) = reply();
        self.passwords.ask(BarAsk::List(reply));
        let now_ms = self.shared.now_ms();
        Ok(self.receive(&awaited)?.iter().map(|bar| ban_of(bar, now_ms)).collect())
    }

    /// Lets an address or a user name in again, and forgets its failures; returns how many bans that were. A name in which a
    /// token is hidden is all that are shown so.
    ///
    /// # Errors
    /// `NoAnswer`: the node ends.
    pub fn lift_bans(&self, address_or_name: &str) -> Result<u64, NodeError> {
        let (reply, awaited) = reply();
        self.passwords.ask(BarAsk::Lift(address_or_name.into(), reply));
        self.receive(&awaited)
    }
}

fn ban_of(bar: &Bar, now_ms: u64) -> Ban {
    Ban {
        address: bar.source.to_string(),
        user: bar.username.as_deref().map(|name| without_secrets(name).into()),
        failures: bar.failures,
        ends_in_s: bar.until_ms.saturating_sub(now_ms).div_ceil(1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passwords::Source;

    /// Is a token that somebody gave for a name in no list of who is kept out, be it whole or as much of it as is remembered?
    #[test]
    fn no_ban_has_a_token() {
        let jwt = format!("eyJhbGciOiJIUzI1NiJ9.{}", "eyJzdWIiOiJhIn0".repeat(20));
        for (name, shown) in [("lapwing_0123456789abcdefghij", "lapwing_***"), (&jwt[..256], "***"), ("bob", "bob")] {
            let bar = Bar { source: Source::Local, username: Some(name.into()), failures: 20, until_ms: 1 };
            assert_eq!(ban_of(&bar, 0).user.as_deref(), Some(shown));
        }
    }
}
