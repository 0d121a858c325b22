//! Users and rules together: who comes in, and what they may do there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::{
    AccessError, AuthConfig, Claim, Identity, Judgement, OutsideConfig, Refusal, Right, Rights, RuleConfig, Rules,
    TokenFault, Tokens, Verifier, Voucher, Work, is_token_shaped,
};

/// Everything about access, shared by all threads of a node.
pub struct Authority {
    verifier: Verifier,
    rules: RwLock<Arc<Rules>>,
    tokens: RwLock<Option<Arc<Tokens>>>,
    outside: RwLock<Option<Arc<OutsideConfig>>>,
    /// Goes up with every reload, so that who keeps rights can see that they are old.
    version: AtomicU64,
}

impl Authority {
    /// Reads users and rules.
    ///
    /// # Errors
    /// One of them is wrong: its key, what, and what to do.
    pub fn new(auth: &AuthConfig, rules: &[RuleConfig]) -> Result<Self, AccessError> {
        let rules = RwLock::new(Arc::new(Rules::new(rules)?));
        let tokens = RwLock::new(read_tokens(auth, None)?);
        let outside = RwLock::new(auth.outside.clone().map(Arc::new));
        Ok(Authority { verifier: Verifier::new(auth)?, rules, tokens, outside, version: AtomicU64::new(1) })
    }

    /// Takes other users and rules from now on: both, or on an error neither.
    ///
    /// # Errors
    /// As [`Authority::new`].
    pub fn reload(&self, auth: &AuthConfig, rules: &[RuleConfig]) -> Result<(), AccessError> {
        let rules = Rules::new(rules)?;
        let (users, tokens) = (self.verifier.read(auth)?, read_tokens(auth, self.tokens().as_deref())?);
        self.take_outside(auth.outside.as_ref());
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        self.verifier.install(users);
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Goes up with every reload: rights made under another version are old.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The users.
    pub const fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// What tokens are checked with; `None`: none are taken.
    pub fn tokens(&self) -> Option<Arc<Tokens>> {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether there is anything that a name and a password can be checked against.
    pub fn checks_credentials(&self) -> bool {
        self.verifier.has_users() || self.tokens().is_some() || self.outside().is_some()
    }

    /// Who is asked about names that are not of the users; the same value for as long as the settings stay the same.
    pub fn outside(&self) -> Option<Arc<OutsideConfig>> {
        self.outside.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take_outside(&self, settings: Option<&OutsideConfig>) {
        let mut outside = self.outside.write().unwrap_or_else(PoisonError::into_inner);
        if outside.as_deref() != settings {
            *outside = settings.cloned().map(Arc::new);
        }
    }

    /// Whether an identity granted before would still be granted: after a reload its user may be gone, or tokens not be taken.
    pub fn still_knows(&self, identity: &Identity) -> bool {
        match identity.voucher() {
            Voucher::Token => self.tokens().is_some(),
            Voucher::Check => self.outside().is_some(),
            _ => self.verifier.still_knows(identity),
        }
    }

    /// What it would take to check this, if it was not known. Whoever is in the users file is checked here, and nobody else asked.
    pub fn work(&self, username: Option<&str>, password: Option<&[u8]>) -> Work {
        if password.is_some_and(is_token_shaped) && self.tokens().is_some() {
            return Work::Token;
        }
        let is_user = username.is_some_and(|name| self.verifier.has_user(name));
        if !is_user && self.outside().is_some() { Work::Outside } else { Work::Password }
    }

    /// Who the bearer of a token is; `now_s`: seconds since 1970, UTC.
    ///
    /// # Errors
    /// Which check it failed.
    pub fn check_token(&self, token: &[u8], now_s: u64) -> Result<Identity, TokenFault> {
        self.tokens().ok_or(TokenFault::NoKeys)?.check(token, now_s)
    }

    /// Decides about a claim as far as that costs nothing: also on a data thread.
    ///
    /// A certificate counts before what the CONNECT says. Who gives a name or a password is checked, also where the
    /// anonymous are let in; only without a users file, where there is nothing to check against, is everybody anonymous.
    pub fn judge(&self, claim: &Claim<'_>) -> Judgement {
        if let Some(name) = claim.certificate {
            return self
                .verifier
                .certificate(name)
                .map_or(Judgement::Refused(Refusal::NotAuthorized), Judgement::Granted);
        }
        let anonymous = Judgement::Granted(Identity::ANONYMOUS);
        let (is_checked, refused) = (self.checks_credentials(), Judgement::Refused);
        match (claim.username, claim.password) {
            (None, None) if claim.anonymous => anonymous,
            (None, None) => refused(Refusal::NotAuthorized),
            _ if !is_checked && claim.anonymous => anonymous,
            _ if !is_checked => refused(Refusal::BadCredentials),
            _ if self.work(claim.username, claim.password) == Work::Token => Judgement::Costly(Work::Token),
            (Some(username), Some(password)) => self
                .verifier
                .verify_cheaply(username, password)
                .map_or_else(|| Judgement::Costly(self.work(claim.username, claim.password)), Judgement::Granted),
            (None, Some(token)) => {
                self.verifier.verify_token(token).map_or_else(|| self.unknown(claim), Judgement::Granted)
            }
            (Some(_), None) => self.unknown(claim),
        }
    }

    /// Nothing here knows it; somebody else may.
    fn unknown(&self, claim: &Claim<'_>) -> Judgement {
        match self.work(claim.username, claim.password) {
            Work::Outside => Judgement::Costly(Work::Outside),
            _ => Judgement::Refused(Refusal::BadCredentials),
        }
    }

    /// Decides about a claim, whatever it costs: tens of milliseconds for a password. Not about tokens, and nobody else is asked.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn check(&self, claim: &Claim<'_>) -> Result<Identity, Refusal> {
        match self.judge(claim) {
            Judgement::Granted(identity) => Ok(identity),
            Judgement::Refused(refusal) => Err(refusal),
            Judgement::Costly(work) => match (claim.username, claim.password) {
                (Some(username), Some(password)) if work == Work::Password => {
                    self.verifier.verify(username, password).ok_or(Refusal::BadCredentials)
                }
                _ => Err(Refusal::BadCredentials),
            },
        }
    }

    /// What a client may publish and subscribe to; `None`: anything, because there are no rules.
    pub fn rights(&self, identity: &Identity, client_id: &str) -> Option<Rights> {
        self.rules().rights(identity, Some(client_id))
    }

    /// As [`Rules::may_connect`].
    pub fn may_connect(&self, identity: &Identity, client_id: &str, is_given: bool) -> bool {
        self.rules().may_connect(identity, client_id, is_given)
    }

    /// As [`Rules::may`].
    pub fn may(&self, identity: &Identity, right: Right, what: &str) -> bool {
        self.rules().may(identity, right, what)
    }

    /// Whether rules permit it: as [`Rules::may`], and without rules nothing.
    pub fn is_permitted(&self, identity: &Identity, right: Right, what: &str) -> bool {
        // One look at the rules: between two they may have gone.
        let rules = self.rules();
        rules.are_there() && rules.may(identity, right, what)
    }

    fn rules(&self) -> Arc<Rules> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// `former`: whose keys may go on being good.
fn read_tokens(auth: &AuthConfig, former: Option<&Tokens>) -> Result<Option<Arc<Tokens>>, AccessError> {
    let mut tokens = auth.jwt.as_ref().map(Tokens::new).transpose()?;
    if let (Some(tokens), Some(former)) = (&mut tokens, former) {
        tokens.inherit(former);
    }
    Ok(tokens.map(Arc::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::tests::cheap_hash;
    use crate::{PasswordHashText, UserConfig, Voucher};

    fn users() -> AuthConfig {
        let password = Some(PasswordHashText(cheap_hash("a")));
        let alice = UserConfig { name: "alice".into(), password, tokens: Vec::new() };
        AuthConfig { users: Some(vec![alice]), ..AuthConfig::default() }
    }

    fn claim<'a>(username: Option<&'a str>, password: Option<&'a str>, anonymous: bool) -> Claim<'a> {
        Claim { username, password: password.map(str::as_bytes), certificate: None, anonymous }
    }

    #[test]
    fn who_says_nothing_is_anonymous_where_that_is_let_in() {
        for auth in [AuthConfig::default(), users()] {
            let authority = Authority::new(&auth, &[]).unwrap();
            assert_eq!(authority.check(&claim(None, None, true)), Ok(Identity::ANONYMOUS));
            assert_eq!(authority.check(&claim(None, None, false)), Err(Refusal::NotAuthorized));
        }
    }

    /// Is what nobody has ruled about permitted by no rule, whatever MQTT permits then?
    #[test]
    fn without_rules_nothing_is_permitted_by_one() {
        let alice = Identity::named("alice", Voucher::Users);
        let authority = Authority::new(&users(), &[]).unwrap();
        assert!(authority.may(&alice, Right::Stream, "s") && !authority.is_permitted(&alice, Right::Stream, "s"));
        let rule = serde_json::from_str(r#"{"identity": "alice", "may": ["stream"], "streams": ["s"]}"#).unwrap();
        let authority = Authority::new(&users(), &[rule]).unwrap();
        assert!(authority.is_permitted(&alice, Right::Stream, "s"));
        assert!(!authority.is_permitted(&alice, Right::Stream, "t"));
    }

    #[test]
    fn who_says_something_is_checked_also_where_the_anonymous_come_in() {
        let authority = Authority::new(&users(), &[]).unwrap();
        for anonymous in [true, false] {
            let check = |username, password| authority.check(&claim(username, password, anonymous));
            assert_eq!(check(Some("alice"), Some("a")).unwrap().name(), Some("alice"));
            for (username, password) in
                [(Some("alice"), Some("b")), (Some("alice"), None), (Some("eve"), Some("a")), (None, Some("a"))]
            {
                assert_eq!(check(username, password), Err(Refusal::BadCredentials), "{username:?} {password:?}");
            }
        }
    }

    #[test]
    fn without_users_a_name_is_only_words() {
        let authority = Authority::new(&AuthConfig::default(), &[]).unwrap();
        assert_eq!(authority.check(&claim(Some("root"), Some("x"), true)), Ok(Identity::ANONYMOUS));
        assert_eq!(authority.check(&claim(Some("root"), Some("x"), false)), Err(Refusal::BadCredentials));
    }

    #[test]
    fn only_a_password_not_seen_lately_is_costly() {
        let authority = Authority::new(&users(), &[]).unwrap();
        let right = claim(Some("alice"), Some("a"), false);
        assert_eq!(authority.judge(&right), Judgement::Costly(Work::Password));
        assert!(authority.check(&right).is_ok());
        assert!(matches!(authority.judge(&right), Judgement::Granted(_)));
        assert_eq!(authority.judge(&claim(Some("alice"), Some("b"), false)), Judgement::Costly(Work::Password));
    }

    /// Is somebody else asked about everybody but the users of the file, and about nobody who says nothing?
    #[test]
    fn others_are_asked_about_those_who_are_not_known() {
        let outside = serde_json::from_str(
            r#"{"url": "https://h/", "timeout_ms": 1, "in_flight_max": 1, "answer_bytes_max": 1, "ttl_ms": 1,
                "ttl_ms_max": 1, "refused_ttl_ms": 1, "remembered_max": 1, "names": "*"}"#,
        );
        let authority = Authority::new(&AuthConfig { outside: Some(outside.unwrap()), ..users() }, &[]).unwrap();
        let judge = |username, password| authority.judge(&claim(username, password, true));
        for (username, password, work) in [
            (Some("alice"), Some("x"), Work::Password),
            (Some("eve"), Some("x"), Work::Outside),
            (None, Some("x"), Work::Outside),
            (Some("eve"), None, Work::Outside),
        ] {
            assert_eq!(judge(username, password), Judgement::Costly(work), "{username:?} {password:?}");
        }
        assert_eq!(judge(Some("alice"), None), Judgement::Refused(Refusal::BadCredentials));
        assert_eq!(judge(None, None), Judgement::Granted(Identity::ANONYMOUS));
        let eve = Identity::named("eve", Voucher::Check);
        assert!(authority.still_knows(&eve));
        authority.reload(&users(), &[]).unwrap();
        assert!(!authority.still_knows(&eve));
    }

    #[test]
    fn a_certificate_counts_before_a_password() {
        let authority = Authority::new(&users(), &[]).unwrap();
        let with = |name| Claim { certificate: Some(name), ..claim(Some("alice"), Some("wrong"), true) };
        assert_eq!(authority.check(&with("alice")).unwrap().voucher(), Voucher::Certificate);
        assert_eq!(authority.check(&with("eve")), Err(Refusal::NotAuthorized));
    }

    #[test]
    fn a_reload_changes_both_or_neither() {
        let rule = |text| serde_json::from_str::<RuleConfig>(text).unwrap();
        let good = rule(r#"{"identity": "alice", "may": ["publish"], "topics": ["a"]}"#);
        let bad = rule(r#"{"identity": "alice", "may": []}"#);
        let authority = Authority::new(&AuthConfig::default(), &[]).unwrap();
        let version = authority.version();
        assert!(authority.reload(&users(), &[bad]).is_err());
        assert_eq!((authority.version(), authority.verifier().has_users()), (version, false));
        authority.reload(&users(), &[good]).unwrap();
        assert!(authority.version() > version && authority.verifier().has_users());
        let alice = Identity::named("alice", Voucher::Users);
        assert!(authority.rights(&alice, "c").unwrap().may_publish("a"));
        assert!(!authority.rights(&alice, "c").unwrap().may_publish("b"));
    }
}
