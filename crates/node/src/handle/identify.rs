//! Who sends a request over HTTP: decided as for a CONNECT, by the same users, tokens and questions, in the same turns.

use std::net::IpAddr;
use std::time::Duration;

use lapwing_access::{Claim, Identity, Judgement, Right, Voucher, Work};
use lapwing_codec::ReasonCode;

use super::Handle;
use crate::passwords::{AskedFor, Outside, Source, Then};

/// So long who was verified need not be verified again.
const GOOD_FOR_MS_MAX: u64 = 60_000;

/// What a request says of who sends it.
#[derive(Clone, Copy)]
pub struct HttpClaim<'a> {
    /// Of `Basic`; `None` with `Bearer`.
    pub username: Option<&'a str>,
    /// The password or the token.
    pub password: &'a [u8],
    /// Where it comes from, without a port.
    pub address: &'a str,
    /// The URL of the HTTP listener.
    pub listener: &'a str,
}

/// Who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identified {
    /// This one; the answer is as good for so long, unless users or rules are reloaded.
    Known {
        /// Its name, for the rules.
        name: String,
        /// Milliseconds.
        good_for_ms: u64,
    },
    /// Nobody: the credentials are wrong.
    Wrong,
    /// Nothing is checked of that address, or of that name from there, for a while.
    Barred,
    /// Too many wait to be checked.
    Busy,
    /// Nobody can say now.
    Unavailable,
}

impl Handle {
    /// Whether there is anything that a name and a password are checked against.
    pub fn checks_credentials(&self) -> bool {
        self.shared.authority.checks_credentials()
    }

    /// Whether rules permit somebody (`None`: anonymous) to do that over HTTP; without rules nobody. `what`: the stream to be read;
    /// `*` for what is no stream's.
    pub fn may(&self, name: Option<&str>, right: Right, what: &str) -> bool {
        let identity = name.map_or(Identity::ANONYMOUS, |name| Identity::named(name, Voucher::Users));
        self.shared.authority.is_permitted(&identity, right, what)
    }

    /// Who sends a request: at once where that takes no work; else `None`, and `then` is called with it, once, whatever
    /// happens, within the time that a CONNECT may take (`connect_timeout_ms`) and a second. It must not keep the thread that
    /// calls it, which may be the caller's.
    pub fn identify(&self, claim: HttpClaim<'_>, then: impl FnOnce(Identified) + Send + 'static) -> Option<Identified> {
        let HttpClaim { username, password, address, listener } = claim;
        let authority = &self.shared.authority;
        let source = address.parse::<IpAddr>().map_or(Source::Local, |ip| Source::from(ip.to_canonical()));
        let is_suspect = username.is_some() && self.passwords.suspects(source);
        let work = authority.work(username, Some(password));
        if !is_suspect {
            match authority.judge(&Claim { username, password: Some(password), certificate: None, anonymous: false }) {
                Judgement::Granted(identity) => return Some(known(&identity)),
                Judgement::Refused(refusal) => return Some(refused(refusal.reason())),
                Judgement::Costly(_) => {}
            }
        }
        let outside = (work == Work::Outside).then(|| {
            Box::new(Outside {
                client_id: String::new(),
                has_username: username.is_some(),
                address: address.to_owned(),
                listener: listener.to_owned(),
            })
        });
        let name = if work == Work::Token { "" } else { username.unwrap_or_default() };
        let asked_for = AskedFor { password: Some(password), work, outside };
        let deadline_ms = self.shared.now_ms().saturating_add(self.shared.config.limits.connect_timeout_ms);
        let then: Then = Box::new(|result| {
            then(match result {
                Ok(identity) => known(&identity),
                Err(denied) => refused(denied.reason),
            });
        });
        self.passwords.check(source, name, asked_for, deadline_ms, then);
        None
    }
}

fn known(identity: &Identity) -> Identified {
    let Some(name) = identity.name() else { return Identified::Wrong };
    let good_for_ms = match identity.voucher() {
        // The node remembers it for as long as the answer says.
        Voucher::Check => 0,
        _ => left_ms(identity).min(GOOD_FOR_MS_MAX),
    };
    Identified::Known { name: name.to_owned(), good_for_ms }
}

/// Until what was granted is over.
fn left_ms(identity: &Identity) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let ends_s = identity.grant().and_then(|grant| grant.expires_at_s);
    ends_s.map_or(u64::MAX, |end_s| Duration::from_secs(end_s).saturating_sub(now).as_millis() as u64)
}

fn refused(reason: ReasonCode) -> Identified {
    match reason {
        ReasonCode::Banned => Identified::Barred,
        ReasonCode::QuotaExceeded => Identified::Busy,
        ReasonCode::ServerUnavailable => Identified::Unavailable,
        _ => Identified::Wrong,
    }
}
