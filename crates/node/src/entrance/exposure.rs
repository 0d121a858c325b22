//! What a configuration leaves open to others that its writer may not have meant: a line each.
//!
//! Not wrong, so not refused: something in front may encrypt.

use lapwing_transport::{Network, Scheme, are_everybody};

use super::unseen::unseen_names;
use super::{Entrance, address};
use crate::config::IdentitySource;

const ANY_AUDIENCE: &str = "auth.jwt takes tokens of its issuer that are for other services: set auth.jwt.audience to what \
    yours say in aud";
const NO_USERS: &str = "has no users: nobody comes in by a password or as a user; add them with lapwing user add NAME, and \
    send SIGHUP";

impl Entrance {
    /// What there is to say, the worst first.
    pub fn exposures(&self) -> Vec<String> {
        let mut told: Vec<String> = self.plain_passwords().into_iter().collect();
        told.extend(self.any_audience());
        told.extend(self.any_proxy());
        told
    }

    fn plain_passwords(&self) -> Option<String> {
        if !self.asks_for_passwords {
            return None;
        }
        let named = self.listeners.iter().filter(|listener| listener.identity == IdentitySource::Password);
        let urls = self.listen.iter().chain(named.map(|listener| &listener.url));
        let plain: Vec<&str> = urls.map(String::as_str).filter(|url| is_plain(url)).collect();
        let urls = plain.join(", ");
        (!plain.is_empty()).then(|| {
            format!("passwords go in the clear over {urls}: use tls or wss, or let something in front of it encrypt")
        })
    }

    fn any_audience(&self) -> Option<String> {
        self.tokens.filter(|tokens| !tokens.have_own_secret && !tokens.have_audience).map(|_| ANY_AUDIENCE.to_owned())
    }

    fn any_proxy(&self) -> impl Iterator<Item = String> {
        self.listeners.iter().enumerate().filter_map(|(number, listener)| {
            let networks = listener.proxy_protocol_from.iter().filter_map(|text| text.parse().ok());
            are_everybody(&networks.collect::<Vec<Network>>()).then(|| {
                format!(
                    "listeners.{number}.proxy_protocol_from takes everybody for a proxy, so whoever connects to {} says \
                     which address he comes from: name the networks of your proxies",
                    listener.url
                )
            })
        })
    }
}

/// Whether others may hear what is said there.
fn is_plain(url: &str) -> bool {
    address(url).is_some_and(|address| matches!(address.scheme(), Scheme::Tcp | Scheme::Ws) && !address.is_local())
}

/// What to say of a users file, behind its name: it has no users while nobody else is asked, for a start may come before the
/// first of them; or users whose names have something that nobody sees. `names`: of all in it; none: there is no such file.
pub fn users_notice<'a>(names: Option<impl IntoIterator<Item = &'a str>>, asks_others: bool) -> Option<String> {
    let mut names = names?.into_iter().peekable();
    if names.peek().is_none() {
        return (!asks_others).then(|| NO_USERS.to_owned());
    }
    unseen_names(names)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(entrance: Value) -> Vec<String> {
        serde_json::from_value::<Entrance>(entrance).unwrap().exposures()
    }

    /// Is it told exactly where somebody is asked for a password and others may hear it, all of them in one line?
    #[test]
    fn passwords_in_the_clear() {
        let mut entrance = json!({
            "listen": ["tcp://127.0.0.1:1", "tcp://0.0.0.0:2", "sn://0.0.0.0:3"],
            "listeners": [
                {"url": "ws://[::]:4"},
                {"url": "unix:///x"},
                {"url": "tls://0.0.0.0:5"},
                {"url": "tcp://0.0.0.0:6", "identity": "certificate-cn"},
            ],
            "asks_for_passwords": true,
            "tokens": null,
        });
        let told = said(entrance.clone());
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("passwords go in the clear over tcp://0.0.0.0:2, ws://[::]:4: use tls"),
            "{told:?}"
        );
        entrance["asks_for_passwords"] = false.into();
        assert!(said(entrance).is_empty());
    }

    /// Are tokens that are for others told of, unless only who shares a secret with this broker makes them?
    #[test]
    fn tokens_for_others() {
        for (have_own_secret, have_audience) in [(false, false), (false, true), (true, false), (true, true)] {
            let tokens = json!({"have_own_secret": have_own_secret, "have_audience": have_audience});
            let told = said(json!({"listen": [], "listeners": [], "asks_for_passwords": true, "tokens": tokens}));
            assert_eq!(!told.is_empty(), !have_own_secret && !have_audience, "{tokens} {told:?}");
        }
    }

    /// Is everybody a proxy also where two halves of all addresses are?
    #[test]
    fn everybody_is_a_proxy() {
        for (networks, is_told) in [
            (json!(["10.0.0.0/8", "::/0"]), true),
            (json!(["0.0.0.0/1", "128.0.0.0/1"]), true),
            (json!(["10.0.0.0/8", "::/1"]), false),
            (json!([]), false),
        ] {
            let listeners =
                json!([{"url": "tcp://127.0.0.1:0"}, {"url": "tcp://[::1]:0", "proxy_protocol_from": networks}]);
            let told = said(json!({"listen": [], "listeners": listeners, "asks_for_passwords": false, "tokens": null}));
            assert_eq!(told.len(), usize::from(is_told), "{networks}");
            assert!(
                told.iter().all(|line| line.starts_with("listeners.1.") && line.contains("tcp://[::1]:0")),
                "{told:?}"
            );
        }
    }

    /// Is it told where nobody could come in by a name?
    #[test]
    fn a_file_without_users() {
        let told = |names: Option<&[&'static str]>, asks| users_notice(names.map(|names| names.iter().copied()), asks);
        assert!(told(Some(&[]), false).is_some());
        assert_eq!(told(Some(&[]), true), None);
        assert_eq!(told(Some(&["alice"]), false), None);
        assert_eq!(told(None, false), None);
        assert!(told(Some(&["alice", "alice "]), true).is_some());
    }

    /// Is what counts of tokens read in a node's configuration?
    #[test]
    fn of_a_node() {
        let mut config = crate::Config::default();
        let jwt = |keys: Value, audience: Value| {
            json!({
                "algorithms": ["RS256"], "keys": keys, "audience": audience, "leeway_s": 1, "name_claim": "sub",
                "names": "*", "token_bytes_max": 4096,
            })
        };
        for (table, is_told) in [
            (jwt(json!({"pem": []}), json!([])), true),
            (jwt(json!({"pem": []}), json!(["here"])), false),
            (jwt(json!({"secret": "c2VjcmV0"}), json!([])), false),
        ] {
            config.auth.jwt = Some(serde_json::from_value(table.clone()).unwrap());
            assert_eq!(!Entrance::of(&config).exposures().is_empty(), is_told, "{table}");
        }
    }
}
