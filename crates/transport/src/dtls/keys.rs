//! Pre-shared keys of a listener: which device has which.
//!
//! A file of lines `IDENTITY:KEY`, the key in hexadecimal. Whose identity is unknown gets as far as who has the wrong key:
//! `dimpl` goes on with a key that nobody has, and its handshake never ends.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER_PERMISSIVE;
use dimpl::PskResolver;

use crate::error::BindError;
use crate::tls::{is_name, read_file, wrong_file};

/// Fewer than 128 bits can be tried out by who has heard one handshake; more than 64 bytes need not be taken by anybody
/// (RFC 4279, 5.3).
const KEY_BYTES: RangeInclusive<usize> = 16..=64;

/// One device's.
pub(crate) struct SharedKey {
    name: String,
    secret: Vec<u8>,
}

impl fmt::Debug for SharedKey {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedKey").field("name", &self.name).finish_non_exhaustive()
    }
}

impl SharedKey {
    /// Whose it is.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// All of a listener, by identity.
#[derive(Debug)]
pub(crate) struct SharedKeys(HashMap<Vec<u8>, Arc<SharedKey>>);

impl SharedKeys {
    /// Reads the file.
    ///
    /// # Errors
    /// `Certificate`: names the file and the line; nothing of what is in it.
    pub(crate) fn read(file: &Path) -> Result<Self, BindError> {
        let remedy = "Write each line as IDENTITY:KEY, the key in hexadecimal, of 16 to 64 bytes; # begins a comment.";
        let wrong = |what: String| wrong_file(file, what, remedy);
        let bytes = read_file(file)?;
        let text = str::from_utf8(&bytes).map_err(|_| wrong("this file is not UTF-8".into()))?;
        let mut keys = HashMap::new();
        for (n, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
            let (name, key) =
                line.trim_end().rsplit_once(':').ok_or_else(|| wrong(format!("line {n} has no colon")))?;
            if !is_name(name) {
                return Err(wrong(format!("the identity in line {n} is empty, too long, or has control characters")));
            }
            let secret = HEXLOWER_PERMISSIVE.decode(key.as_bytes());
            let secret = secret.map_err(|_| wrong(format!("the key in line {n} is not hexadecimal")))?;
            if !KEY_BYTES.contains(&secret.len()) {
                return Err(wrong(format!("the key in line {n} has {} bytes", secret.len())));
            }
            match keys.entry(name.as_bytes().to_vec()) {
                Entry::Occupied(_) => return Err(wrong(format!("the identity in line {n} has a key already"))),
                Entry::Vacant(free) => free.insert(Arc::new(SharedKey { name: name.to_owned(), secret })),
            };
        }
        if keys.is_empty() {
            return Err(wrong("there is no key in this file".into()));
        }
        Ok(SharedKeys(keys))
    }

    /// Whether this is still the key of its device.
    pub(crate) fn has(&self, key: &SharedKey) -> bool {
        self.0.get(key.name.as_bytes()).is_some_and(|own| own.secret == key.secret)
    }
}

thread_local! {
    /// `dimpl` asks for a key in the middle of a step, and has no way to say of which connection: it is that of the step.
    static ASKED: Cell<Option<Arc<SharedKey>>> = const { Cell::new(None) };
}

/// The key that was asked for on this thread since the last call.
pub(super) fn asked() -> Option<Arc<SharedKey>> {
    ASKED.take()
}

impl PskResolver for SharedKeys {
    fn resolve(&self, identity: &[u8]) -> Option<Vec<u8>> {
        let key = self.0.get(identity)?;
        ASKED.set(Some(key.clone()));
        Some(key.secret.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Authority;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f";

    /// Is a file read as it is meant, and each line that is wrong named, with nothing of the keys?
    #[test]
    fn lines_are_identities_with_keys() {
        let authority = Authority::new();
        let read = |text: &str| SharedKeys::read(&authority.write("keys", text));
        let keys = read(&format!("# two\n\nurn:meter:7:{KEY}\nzoë:{}\n", KEY.to_uppercase().repeat(4))).unwrap();
        assert_eq!(keys.resolve(b"urn:meter:7").map(|key| key.len()), Some(16));
        assert_eq!(asked().map(|key| key.name().to_owned()).as_deref(), Some("urn:meter:7"));
        assert_eq!(keys.resolve("zoë".as_bytes()).map(|key| key.len()), Some(64));
        assert!(asked().is_some() && asked().is_none());
        assert!(keys.resolve(b"meter").is_none() && asked().is_none());
        assert!(!format!("{keys:?}").contains("10, 11"), "{keys:?}");
        for (text, what) in [
            (String::new(), "no key"),
            (KEY.to_owned(), "line 1 has no colon"),
            (format!("a:{KEY}\nb:{KEY}z"), "line 2 is not hexadecimal"),
            (format!("a:{}", &KEY[..30]), "line 1 has 15 bytes"),
            (format!("a:{}00", KEY.repeat(4)), "line 1 has 65 bytes"),
            (format!(":{KEY}"), "line 1 is empty"),
            (format!("a\tb:{KEY}"), "control characters"),
            (format!("a:{KEY}\n#\na:{KEY}"), "line 3 has a key already"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.to_string().contains(what) && error.to_string().contains("keys"), "{error}");
            assert!(!error.to_string().contains("0102") && error.remedy().contains("IDENTITY:KEY"), "{error}");
        }
        assert!(SharedKeys::read(&authority.folder.path().join("nowhere")).is_err());
    }

    /// Is a key that was changed or removed known as one that is not good any more?
    #[test]
    fn a_key_is_its_devices_as_long_as_it_is_there() {
        let authority = Authority::new();
        let read = |text: &str| SharedKeys::read(&authority.write("keys", text)).unwrap();
        let old = read(&format!("a:{KEY}\nb:{KEY}\n"));
        old.resolve(b"a").unwrap();
        let key = asked().unwrap();
        assert!(old.has(&key) && read(&format!("a:{KEY}")).has(&key));
        assert!(!read(&format!("b:{KEY}")).has(&key) && !read(&format!("a:{KEY}00")).has(&key));
    }
}
