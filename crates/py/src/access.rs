//! `Authority`: users and rules, for what Python serves itself (HTTP).

use lapwing_access::{AccessConfig, AccessError, Identity, Right, Voucher};
use pyo3::prelude::*;

use crate::core_error::core_error;

/// Users and rules, asked from any thread. Passwords verified lately are remembered as digests under a key of this
/// process, so that a client which sends its password with each request costs no argon2id each time.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Authority {
    inner: lapwing_access::Authority,
}

#[pymethods]
impl Authority {
    /// Reads users and rules: `{"auth": {"users": [...]}, "rules": [...]}`, as the node's configuration has them.
    #[new]
    fn new(py: Python<'_>, config_json: &str) -> PyResult<Self> {
        let config = parse(py, config_json)?;
        check(py, &config)?;
        let inner = lapwing_access::Authority::new(&config.auth, &config.rules);
        Ok(Authority { inner: inner.map_err(|error| access_error(py, &error))? })
    }

    /// Takes other users and rules from now on; on an error nothing changes.
    fn reload(&self, py: Python<'_>, config_json: &str) -> PyResult<()> {
        let config = parse(py, config_json)?;
        check(py, &config)?;
        self.inner.reload(&config.auth, &config.rules).map_err(|error| access_error(py, &error))
    }

    /// True when there is a users file; without one no password and no token is anybody's.
    fn has_users(&self) -> bool {
        self.inner.verifier().has_users()
    }

    /// True when there is anything that a name and a password are checked against: users, tokens, somebody to ask.
    fn knows_somebody(&self) -> bool {
        self.inner.checks_credentials()
    }

    /// The user's name, if this is its password or one of its tokens. Takes tens of milliseconds, without the
    /// interpreter's lock; once verified, microseconds.
    fn check_password(&self, py: Python<'_>, user: &str, password: &[u8]) -> Option<String> {
        py.detach(|| name(self.inner.verifier().verify(user, password)))
    }

    /// The name of the user whose token this is.
    fn check_token(&self, token: &str) -> Option<String> {
        name(self.inner.verifier().verify_token(token.as_bytes()))
    }

    /// Whether somebody (None: anonymous) may "publish" to a topic, "subscribe" to a filter, read a "stream", "observe",
    /// "admin", or be told of publishers ("envelope").
    ///
    /// Rules with `%c` permit nothing here: there is no client id.
    #[pyo3(signature = (identity, right, what))]
    fn may(&self, py: Python<'_>, identity: Option<&str>, right: &str, what: &str) -> PyResult<bool> {
        Ok(self.inner.may(&named(identity), right_of(py, right)?, what))
    }

    /// The same, where nobody may anything without rules: what HTTP asks.
    #[pyo3(signature = (identity, right, what))]
    fn is_permitted(&self, py: Python<'_>, identity: Option<&str>, right: &str, what: &str) -> PyResult<bool> {
        Ok(self.inner.is_permitted(&named(identity), right_of(py, right)?, what))
    }
}

fn right_of(py: Python<'_>, name: &str) -> PyResult<Right> {
    Right::from_name(name).ok_or_else(|| {
        let remedy = "Ask for publish, subscribe, stream, envelope, observe or admin.";
        core_error(py, "config", &format!("{name:?} is no right"), remedy, &[])
    })
}

fn named(identity: Option<&str>) -> Identity {
    identity.map_or(Identity::ANONYMOUS, |name| Identity::named(name, Voucher::Users))
}

/// Hashes a password for a users file: argon2id, as a PHC string.
#[pyfunction]
pub(crate) fn hash_password(py: Python<'_>, password: &[u8]) -> PyResult<String> {
    py.detach(|| lapwing_access::hash_password(password)).map_err(|error| access_error(py, &error))
}

/// From when until when certificates and revocation lists hold, `(is_list, from_s, until_s)`, of all in PEM that can be read.
#[pyfunction]
pub(crate) fn certificate_times(pem: &[u8]) -> Vec<(bool, u64, Option<u64>)> {
    let found = lapwing_node::certificate_times(pem);
    found.iter().map(|times| (times.is_list, times.from.as_secs(), times.until.map(|until| until.as_secs()))).collect()
}

/// What to say of the shortest RSA key of the certificates in PEM, if it is too short; None: none is known to be.
#[pyfunction]
pub(crate) fn weak_rsa_key(pem: &[u8]) -> Option<String> {
    lapwing_node::weak_rsa_key(pem).map(|weak| weak.to_string())
}

fn parse(py: Python<'_>, config_json: &str) -> PyResult<AccessConfig> {
    serde_json::from_str(config_json).map_err(|error| {
        let message = format!("users and rules: {error}");
        core_error(py, "config", &message, "Correct the key or the value named.", &[])
    })
}

/// What is to be asked of others can be asked.
fn check(py: Python<'_>, config: &AccessConfig) -> PyResult<()> {
    lapwing_node::check_access(&config.auth)
        .map_err(|error| core_error(py, error.code(), &error.to_string(), &error.remedy(), &[]))
}

fn name(identity: Option<Identity>) -> Option<String> {
    identity.and_then(|identity| identity.name().map(str::to_owned))
}

fn access_error(py: Python<'_>, error: &AccessError) -> PyErr {
    core_error(py, "config", &error.to_string(), error.remedy, &[])
}
