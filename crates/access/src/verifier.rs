//! Checks passwords and tokens, from any thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::cache::PasswordCache;
use crate::config::{AuthConfig, Certificates};
use crate::error::AccessError;
use crate::password::PasswordRecord;
use crate::users::Users;
use crate::{Identity, Voucher};

/// The users, and the passwords verified lately.
///
/// Locks are held for a look into a table, never while a password is hashed.
pub struct Verifier {
    table: RwLock<Arc<Table>>,
    cache: Mutex<PasswordCache>,
}

struct Table {
    /// `None`: there is no users file.
    users: Option<Users>,
    certificates: Certificates,
}

impl Table {
    fn new(config: &AuthConfig) -> Result<Self, AccessError> {
        let users = config.users.as_deref().map(Users::new).transpose()?;
        Ok(Table { users, certificates: config.certificates })
    }
}

/// Users that were read and checked, to be put in force.
pub(crate) struct NewUsers(Table);

impl Verifier {
    /// A verifier of these users.
    ///
    /// # Errors
    /// A user is wrong, or the system gives no random bytes.
    pub fn new(config: &AuthConfig) -> Result<Self, AccessError> {
        let table = RwLock::new(Arc::new(Table::new(config)?));
        Ok(Verifier { table, cache: Mutex::new(PasswordCache::new()?) })
    }

    /// Takes other users from now on; nothing changes on an error.
    ///
    /// # Errors
    /// As [`Verifier::new`].
    pub fn reload(&self, config: &AuthConfig) -> Result<(), AccessError> {
        self.install(self.read(config)?);
        Ok(())
    }

    pub(crate) fn read(&self, config: &AuthConfig) -> Result<NewUsers, AccessError> {
        Table::new(config).map(NewUsers)
    }

    pub(crate) fn install(&self, users: NewUsers) {
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(users.0);
        self.cache().clear();
    }

    /// Whether there is a users file at all; without one, names and passwords mean nothing.
    pub fn has_users(&self) -> bool {
        self.table().users.is_some()
    }

    /// The user, if this is its password or one of its tokens.
    ///
    /// Costs tens of milliseconds, the same for an unknown user and for every wrong password, unless it was verified lately.
    pub fn verify(&self, username: &str, password: &[u8]) -> Option<Identity> {
        if let Some(identity) = self.verify_cheaply(username, password) {
            return Some(identity);
        }
        self.verify_by(&self.table(), username, password)
    }

    /// By the users of `table`, which were in force when somebody asked.
    fn verify_by(&self, table: &Table, username: &str, password: &[u8]) -> Option<Identity> {
        let users = table.users.as_ref()?;
        let Some((name, record)) = users.password_of(username) else {
            // The answer is no; it must take as long as that of a wrong password.
            let _ = users.dummy().verify(password);
            return None;
        };
        if !record.verify(password) {
            if let Some(rest) = users.rest_of(record) {
                let _ = rest.verify(password);
            }
            return None;
        }
        if !self.has_password(name, record) {
            // A reload came while it was hashed.
            return self.verify(username, password);
        }
        let mut cache = self.cache();
        let digest = cache.digest(name, record.text(), password);
        cache.insert(name.clone(), digest);
        Some(Identity::named(name.clone(), Voucher::Users))
    }

    /// As [`Verifier::verify`], without costly work: `None` also when that would be needed to know.
    pub fn verify_cheaply(&self, username: &str, password: &[u8]) -> Option<Identity> {
        let table = self.table();
        let users = table.users.as_ref()?;
        if let Some(name) = users.of_token(password) {
            return (**name == *username).then(|| Identity::named(name.clone(), Voucher::Users));
        }
        let (name, record) = users.password_of(username)?;
        let cache = self.cache();
        let digest = cache.digest(name, record.text(), password);
        cache.contains(name, &digest).then(|| Identity::named(name.clone(), Voucher::Users))
    }

    /// Whether this is the password of that user now.
    fn has_password(&self, name: &str, record: &PasswordRecord) -> bool {
        let table = self.table();
        let users = table.users.as_ref();
        users.and_then(|users| users.password_of(name)).is_some_and(|(_, now)| now.text() == record.text())
    }

    /// The user whose token this is.
    pub fn verify_token(&self, token: &[u8]) -> Option<Identity> {
        let table = self.table();
        let name = table.users.as_ref()?.of_token(token)?;
        Some(Identity::named(name.clone(), Voucher::Users))
    }

    /// The identity of a verified client certificate; `None` when its name is not listed and must be.
    pub fn certificate(&self, name: &str) -> Option<Identity> {
        self.takes_certificate(name).then(|| Identity::named(name, Voucher::Certificate))
    }

    /// Whether there is a user of that name.
    pub fn has_user(&self, name: &str) -> bool {
        self.table().users.as_ref().is_some_and(|users| users.contains(name))
    }

    /// Whether an identity granted before would still be granted: after a reload its user may be gone.
    pub fn still_knows(&self, identity: &Identity) -> bool {
        match (identity.voucher(), identity.name()) {
            (Voucher::Users, Some(name)) => self.table().users.as_ref().is_some_and(|users| users.contains(name)),
            (Voucher::Certificate, Some(name)) => self.takes_certificate(name),
            // Of tokens and answers the authority knows.
            (Voucher::Nobody | Voucher::Hook | Voucher::Token | Voucher::Check, _) | (_, None) => true,
        }
    }

    fn takes_certificate(&self, name: &str) -> bool {
        let table = self.table();
        let is_listed = table.users.as_ref().is_none_or(|users| users.contains(name));
        !name.is_empty() && (is_listed || table.certificates == Certificates::Any)
    }

    fn table(&self) -> Arc<Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn cache(&self) -> MutexGuard<'_, PasswordCache> {
        // The cache is a table of digests: half an insertion leaves an entry more or less, nothing wrong.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::tests::cheap_hash;
    use sha2::{Digest, Sha256};

    const TOKEN: &[u8] = b"lapwing_0123456789abcdef";

    fn config(users: &[(&str, Option<&str>, bool)]) -> AuthConfig {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let user = |&(name, password, has_token): &(&str, Option<&str>, bool)| crate::UserConfig {
            name: name.into(),
            password: password.map(|password| crate::PasswordHashText(cheap_hash(password))),
            tokens: has_token.then(|| crate::TokenDigest(hex(&Sha256::digest(TOKEN)))).into_iter().collect(),
        };
        AuthConfig {
            users: Some(users.iter().map(user).collect()),
            certificates: Certificates::Listed,
            jwt: None,
            outside: None,
        }
    }

    fn name(identity: Option<Identity>) -> Option<String> {
        identity.and_then(|identity| identity.name().map(str::to_owned))
    }

    #[test]
    fn the_right_password_and_no_other() {
        let verifier = Verifier::new(&config(&[("alice", Some("a"), false), ("bob", None, false)])).unwrap();
        assert_eq!(name(verifier.verify("alice", b"a")).as_deref(), Some("alice"));
        for (user, password) in [("alice", "b"), ("alice", ""), ("bob", ""), ("bob", "a"), ("eve", "a"), ("", "")] {
            assert_eq!(verifier.verify(user, password.as_bytes()), None, "{user} {password}");
        }
    }

    #[test]
    fn a_verified_password_is_cheap_until_it_changes() {
        let verifier = Verifier::new(&config(&[("alice", Some("a"), false)])).unwrap();
        assert_eq!(verifier.verify_cheaply("alice", b"a"), None, "not yet");
        assert!(verifier.verify("alice", b"a").is_some() && verifier.verify_cheaply("alice", b"a").is_some());
        assert_eq!(verifier.verify_cheaply("alice", b"b"), None);
        verifier.reload(&config(&[("alice", Some("b"), false)])).unwrap();
        assert_eq!(verifier.verify("alice", b"a"), None);
        assert!(verifier.verify("alice", b"b").is_some());
    }

    /// Is a password that was changed, or whose user was removed, while it was hashed not good any more, and the new one good?
    #[test]
    fn who_asks_before_a_reload_is_judged_by_it() {
        let users = |password| config(&[("alice", Some(password), false)]);
        let verifier = Verifier::new(&users("a")).unwrap();
        let before = verifier.table();
        assert_eq!(name(verifier.verify_by(&before, "alice", b"a")).as_deref(), Some("alice"));
        verifier.reload(&users("b")).unwrap();
        assert_eq!(verifier.verify_by(&before, "alice", b"a"), None);
        let between = verifier.table();
        verifier.reload(&config(&[("alice", Some("b"), false), ("bob", None, false)])).unwrap();
        assert_eq!(name(verifier.verify_by(&between, "alice", b"b")).as_deref(), Some("alice"), "hashed anew");
        verifier.reload(&config(&[("bob", None, false)])).unwrap();
        assert_eq!(verifier.verify_by(&between, "alice", b"b"), None);
    }

    #[test]
    fn a_token_is_its_users_alone() {
        let verifier = Verifier::new(&config(&[("spark", None, true), ("alice", Some("a"), false)])).unwrap();
        assert_eq!(name(verifier.verify_token(TOKEN)).as_deref(), Some("spark"));
        assert_eq!(name(verifier.verify_cheaply("spark", TOKEN)).as_deref(), Some("spark"));
        assert_eq!(verifier.verify("alice", TOKEN), None, "another user's");
        assert_eq!(verifier.verify_token(b"lapwing_x"), None);
        assert_eq!(verifier.verify_token(b""), None);
    }

    #[test]
    fn a_certificate_counts_when_it_is_listed_or_need_not_be() {
        let listed = Verifier::new(&config(&[("alice", None, false)])).unwrap();
        assert!(listed.certificate("alice").is_some() && listed.certificate("eve").is_none());
        let any = Verifier::new(&AuthConfig { certificates: Certificates::Any, ..config(&[]) }).unwrap();
        assert!(any.certificate("eve").is_some() && any.certificate("").is_none());
        assert!(Verifier::new(&AuthConfig::default()).unwrap().certificate("eve").is_some(), "no users file");
    }

    #[test]
    fn after_a_reload_the_removed_are_not_known() {
        let verifier = Verifier::new(&config(&[("alice", None, true), ("bob", None, false)])).unwrap();
        let (alice, bob) = (verifier.verify_token(TOKEN).unwrap(), verifier.certificate("bob").unwrap());
        let hooked = Identity::named("eve", Voucher::Hook);
        verifier.reload(&config(&[("carol", None, false)])).unwrap();
        assert!(!verifier.still_knows(&alice) && !verifier.still_knows(&bob));
        assert!(verifier.still_knows(&hooked) && verifier.still_knows(&Identity::ANONYMOUS));
        let mut wrong = config(&[("x", None, false)]);
        wrong.users.as_mut().unwrap()[0].name = "*".into();
        assert!(
            verifier.reload(&wrong).is_err() && verifier.certificate("carol").is_some(),
            "nothing changes on an error"
        );
    }

    /// An unknown user takes as long as a wrong password: within a factor that no neighbour hides.
    #[test]
    fn an_unknown_user_is_not_faster_than_a_wrong_password() {
        let hash = crate::hash_password(b"x").unwrap();
        let mut config = config(&[("alice", None, false)]);
        config.users.as_mut().unwrap()[0].password = Some(crate::PasswordHashText(hash));
        let verifier = Verifier::new(&config).unwrap();
        let fastest = |user: &str| {
            let time = || {
                let begun = lapwing_stopwatch::on_cpu();
                assert_eq!(verifier.verify(user, b"wrong"), None);
                lapwing_stopwatch::on_cpu() - begun
            };
            (0..5).map(|_| time()).min().unwrap()
        };
        let (known, unknown) = (fastest("alice"), fastest("eve"));
        assert!(unknown > known / 4 && unknown < known * 4, "{known:?} {unknown:?}");
    }
}
