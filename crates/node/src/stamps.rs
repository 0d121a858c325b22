//! Whether messages are stamped with their publishers, and the names that stamps are made of.
//!
//! Nobody pays for what nobody asks: until the first client that may be told of publishers asks for it, a message costs one look at
//! a flag that is never written. From then on all are stamped, and a file in the data folder says so: what is kept for
//! a client that is away, over a restart too, must have its stamp when the client comes back.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use lapwing_session::SessionKey;

use crate::config::{Config, StampPolicy};
use crate::error::NodeError;
use crate::note::Note;
use crate::shard::Kept;
use crate::slot::ShardId;

/// The identity, sixteen hexadecimal digits.
const NOTE: Note = Note {
    name: "stamps",
    begins: "lapwing-stamps 1 ",
    then: "a number",
    remedy: "Restore the file, or remove it: sessions then have other names in lapwing-session.",
};

/// One per node; every shard asks it.
pub(crate) struct Stamps {
    policy: StampPolicy,
    wanted: AtomicBool,
    /// The data folder, where something outlives the node.
    folder: Option<PathBuf>,
    /// Names kept sessions together with their place in the log: of the folder, for as long as it lives.
    identity: u64,
    /// Names this life of the node.
    life: u64,
    /// The file is there. Held while it is written.
    is_noted: Mutex<bool>,
}

impl Stamps {
    /// Finds out what holds in this data folder.
    ///
    /// # Errors
    /// `Config`: its file cannot be read, or says something else.
    pub(crate) fn open(config: &Config) -> Result<Self, NodeError> {
        let folder = config.data_dir.clone().filter(|_| config.keeps_sessions());
        let identity = |noted: &str| u64::from_str_radix(noted, 16).ok();
        let noted = folder.as_deref().map_or(Ok(None), |folder| NOTE.read(folder, identity))?;
        let policy = config.envelope.stamp;
        let is_wanted = policy == StampPolicy::Always || (policy == StampPolicy::Asked && noted.is_some());
        let stamps = Stamps {
            policy,
            wanted: AtomicBool::new(is_wanted),
            folder,
            identity: noted.unwrap_or_else(random),
            life: random(),
            is_noted: Mutex::new(noted.is_some()),
        };
        if is_wanted {
            stamps.note().map_err(|error| NOTE.unusable(&error.to_string()))?;
        }
        Ok(stamps)
    }

    /// Whether messages that come in are stamped.
    #[inline]
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// Whether anybody can be told of publishers.
    pub(crate) fn may_be_wanted(&self) -> bool {
        self.policy != StampPolicy::Never
    }

    /// Somebody is told of publishers: messages are stamped from now on, here at once and after a restart too.
    ///
    /// # Errors
    /// The second could not be noted; it is tried again when the next one asks.
    pub(crate) fn want(&self) -> io::Result<()> {
        self.wanted.store(true, Ordering::Release);
        self.note()
    }

    /// Writes the name of a session behind `into`. `kept`: how the log knows it.
    pub(crate) fn name_session(&self, key: SessionKey, kept: Option<Kept>, into: &mut String) {
        // Writing into a string does not fail.
        let _ = match kept {
            Some(kept) => write!(into, "{:x}.{:x}.{:x}", self.identity, kept.slot.data_group(), kept.id.0),
            None => write!(into, "{:x}.{:x}", self.life, key.0),
        };
    }

    /// Writes the name of a message behind `into`: the `number`th that `shard` has stamped.
    pub(crate) fn name_message(&self, shard: ShardId, number: u64, into: &mut String) {
        let _ = write!(into, "{:x}.{:x}.{number:x}", self.life, shard.index());
    }

    fn note(&self) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut is_noted = self.is_noted.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_noted {
            NOTE.write(folder, &format!("{:016x}", self.identity))?;
            *is_noted = true;
        }
        Ok(())
    }
}

/// A number that nobody has had: the standard library's hash keys are random per process and call.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u128(std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use lapwing_ledger::KeeperId;

    use super::*;
    use crate::config::EnvelopeConfig;
    use crate::slot::Slot;

    fn open(folder: Option<&Path>, stamp: StampPolicy) -> Result<Stamps, NodeError> {
        let envelope = EnvelopeConfig { stamp };
        Stamps::open(&Config { data_dir: folder.map(Path::to_path_buf), envelope, ..Config::default() })
    }

    fn names(stamps: &Stamps) -> [String; 3] {
        let mut names = [const { String::new() }; 3];
        let kept = Kept { id: KeeperId(10), slot: Slot::of(b"client") };
        stamps.name_session(SessionKey(7), Some(kept), &mut names[0]);
        stamps.name_session(SessionKey(7), None, &mut names[1]);
        stamps.name_message(ShardId(1), 10, &mut names[2]);
        names
    }

    /// Does what was wanted once stay so over restarts, with the same names for kept sessions and other ones for what ends?
    #[test]
    fn what_was_wanted_is_wanted_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(Some(folder.path()), StampPolicy::Asked).unwrap();
        assert!(!first.are_wanted() && first.may_be_wanted() && !folder.path().join(NOTE.name).exists());
        first.want().unwrap();
        first.want().unwrap();
        let second = open(Some(folder.path()), StampPolicy::Asked).unwrap();
        assert!(first.are_wanted() && second.are_wanted());
        let ([kept, volatile, message], [kept_then, volatile_then, message_then]) = (names(&first), names(&second));
        assert_eq!(kept, kept_then);
        assert!(volatile != volatile_then && message != message_then);
        let length_max = [kept, volatile, message].iter().map(String::len).max();
        assert!(length_max < Some(64) && message_then.ends_with(".1.a"));
        assert!(!open(Some(folder.path()), StampPolicy::Never).unwrap().are_wanted());
    }

    #[test]
    fn without_a_folder_it_holds_as_long_as_the_node() {
        let stamps = open(None, StampPolicy::Asked).unwrap();
        stamps.want().unwrap();
        assert!(stamps.are_wanted() && open(None, StampPolicy::Always).unwrap().are_wanted());
        assert!(!open(None, StampPolicy::Never).unwrap().may_be_wanted());
    }

    /// Is a file that says something else an error that names it?
    #[test]
    fn a_strange_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["lapwing-stamps 2 00\n", "lapwing-stamps 1 x\n"] {
            fs::write(folder.path().join(NOTE.name), text).unwrap();
            let error = open(Some(folder.path()), StampPolicy::Asked).err().unwrap().to_string();
            assert!(error.contains(NOTE.name), "{text:?}: {error}");
        }
    }
}
