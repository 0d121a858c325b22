//! Passwords: argon2id, as PHC strings.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, Params};

use crate::error::AccessError;

/// Most memory that one check may take, in KiB: 1 GiB. A users file must not take the broker's memory by a typing error.
const MEMORY_KIB_MAX: u32 = 1 << 20;
/// The least that argon2id takes.
const MEMORY_KIB_MIN: u64 = 8;
/// Most passes over that memory.
const PASSES_MAX: u32 = 64;
/// Most lanes.
const LANES_MAX: u32 = 64;

/// A password's hash, ready to be compared with.
pub(crate) struct PasswordRecord {
    hash: PasswordHash,
    cost: Params,
    /// As it was configured: part of what the cache remembers.
    text: Box<str>,
}

/// Hashes a password for a users file: argon2id with 19 MiB, 2 passes, 1 lane (OWASP's first choice), a salt of its own.
///
/// # Errors
/// An empty password, or the system gives no random bytes.
pub fn hash_password(password: &[u8]) -> Result<String, AccessError> {
    if password.is_empty() {
        return Err(AccessError::new("password", "is empty", "Choose a password."));
    }
    let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password);
    let hash = hash.map_err(|error| AccessError::new("password", error.to_string(), "Try again."))?;
    Ok(hash.to_string())
}

impl PasswordRecord {
    /// Reads a PHC string; the error says what is wrong without showing it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let hash = PasswordHash::new(text).map_err(|_| "is no PHC string".to_owned())?;
        if hash.algorithm.as_str() != "argon2id" || hash.version.is_none_or(|version| version != 0x13) {
            return Err("is not argon2id, version 19".to_owned());
        }
        if hash.salt.is_none() || hash.hash.is_none() {
            return Err("has no salt or no hash".to_owned());
        }
        let record = PasswordRecord::parse_unbounded(text)?;
        let cost = &record.cost;
        if cost.m_cost() > MEMORY_KIB_MAX || cost.t_cost() > PASSES_MAX || cost.p_cost() > LANES_MAX {
            return Err(format!("costs more than m={MEMORY_KIB_MAX}, t={PASSES_MAX}, p={LANES_MAX}"));
        }
        Ok(record)
    }

    fn parse_unbounded(text: &str) -> Result<Self, String> {
        let hash = PasswordHash::new(text).map_err(|_| "is no PHC string".to_owned())?;
        let cost = Params::try_from(&hash).map_err(|_| "has costs that argon2id does not allow".to_owned())?;
        Ok(PasswordRecord { hash, cost, text: text.into() })
    }

    /// A record that no password fits and that costs as much to check as `like` does, or as a new one.
    pub(crate) fn dummy(like: Option<&PasswordRecord>) -> Self {
        let cost = like.map_or(&Params::DEFAULT, |like| &like.cost);
        PasswordRecord::unfit(cost.m_cost().into(), cost.t_cost().into(), cost.p_cost())
    }

    fn unfit(m: u64, t: u64, p: u32) -> Self {
        let text = format!("$argon2id$v=19$m={m},t={t},p={p}${}${}", "A".repeat(22), "A".repeat(43));
        PasswordRecord::parse_unbounded(&text).expect("costs that argon2id allows can be written")
    }

    /// A record that no password fits and that costs about `work` to check.
    pub(crate) fn filler(work: u64) -> Self {
        let m = work.clamp(MEMORY_KIB_MIN, u64::from(Params::DEFAULT_M_COST));
        // What costs less than a pass over the least memory is not seen in a time.
        let t = (work / m).clamp(1, u64::from(PASSES_MAX) * u64::from(MEMORY_KIB_MAX) / m);
        PasswordRecord::unfit(m, t, 1)
    }

    /// What a check costs: KiB written, over all passes.
    pub(crate) fn work(&self) -> u64 {
        u64::from(self.cost.m_cost()) * u64::from(self.cost.t_cost())
    }

    /// Whether it is this password's. Costs what the record says: tens of milliseconds.
    pub(crate) fn verify(&self, password: &[u8]) -> bool {
        Argon2::default().verify_password(password, &self.hash).is_ok()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Hashes with costs that a test can afford.
    pub(crate) fn cheap_hash(password: &str) -> String {
        let params = Params::new(8, 1, 1, None).unwrap();
        let argon2 = Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
        let hash: PasswordHash = argon2.hash_password(password.as_bytes()).unwrap();
        hash.to_string()
    }

    #[test]
    fn a_password_fits_its_hash_and_no_other() {
        let record = PasswordRecord::parse(&cheap_hash("correct horse")).unwrap();
        assert!(record.verify(b"correct horse"));
        assert!(!record.verify(b"correct horsf") && !record.verify(b"") && !record.verify(&[0xff; 70_000]));
    }

    /// The broker's own hashes are read back, salted, and cost what they should.
    #[test]
    fn a_new_hash_is_argon2id_with_its_own_salt() {
        let (one, other) = (hash_password(b"x").unwrap(), hash_password(b"x").unwrap());
        assert_ne!(one, other);
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert!(PasswordRecord::parse(&one).unwrap().verify(b"x"));
        assert!(hash_password(b"").is_err());
    }

    /// A hash made by another implementation (the reference one, as RFC 9106 describes it) is understood.
    #[test]
    fn a_hash_from_elsewhere_fits() {
        // printf password | argon2 somesalt -id -t 2 -k 65536 -p 1 -e
        let text = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        assert!(PasswordRecord::parse(text).unwrap().verify(b"password"));
    }

    #[test]
    fn what_is_no_such_hash_is_refused_and_not_shown() {
        let good = cheap_hash("secret");
        for text in [
            "",
            "secret",
            &good.replace("argon2id", "argon2i"),
            &good.replace("v=19", "v=16"),
            &good.replace("m=8", "m=4294967295"),
            &good.replace("t=1", "t=1000000"),
            "$argon2id$v=19$m=8,t=1,p=1",
            "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW",
        ] {
            let error = PasswordRecord::parse(text).err().unwrap();
            assert!(!error.contains("secret") && !error.contains("$"), "{text}: {error}");
        }
    }

    #[test]
    fn nothing_fits_the_dummy_and_it_costs_the_same() {
        let like = PasswordRecord::parse(&cheap_hash("x")).unwrap();
        let dummy = PasswordRecord::dummy(Some(&like));
        assert_eq!(dummy.cost.m_cost(), 8);
        assert!(!dummy.verify(b"x") && !dummy.verify(b""));
        assert_eq!(PasswordRecord::dummy(None).cost.m_cost(), Params::DEFAULT_M_COST);
    }
}
