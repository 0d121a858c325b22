//! Readers that gave a name: how far each has read, so that retention can raise an alarm.

use crate::config::is_name;
use crate::info::ReaderInfo;
use crate::notice::TrimmedUnread;
use crate::record::{Fault, NO_SALT, RecordHeader, RecordKind, decode_only, u32_at, u64_at};

/// What became of a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Not a name.
    Name,
    /// No room, and nobody is stale enough to make some.
    Full,
    /// It is somebody else's.
    Taken,
}

/// A name that a reader gives, and whose it is then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBy<'a> {
    /// The name.
    pub name: &'a str,
    /// Who reads; `None`: nobody in particular, whose names anybody may take up.
    pub owner: Option<&'a str>,
    /// Whether somebody else's name is moved too, and stays theirs.
    pub overrides: bool,
}

impl<'a> ReadBy<'a> {
    /// Who answers to no other reader: a program that has the log to itself.
    pub const fn itself(name: &'a str) -> Self {
        ReadBy { name, owner: None, overrides: true }
    }
}

/// Named readers of one stream, bounded. When there is no room, the one that was not seen for longest makes some if that
/// is longer than the retention age: all that it has not read has been trimmed, and the alarm raised, by then.
#[derive(Debug)]
pub(crate) struct NamedReaders {
    readers: Vec<NamedReader>,
    readers_max: usize,
    stale_ms: i64,
    /// Something changed since the last `encode`.
    dirty: bool,
}

#[derive(Debug, Clone)]
struct NamedReader {
    name: String,
    /// Who began it, or took it up first of those with a name.
    owner: Option<String>,
    seen_at_ms: i64,
    /// Ascending by partition; a reader watches only partitions that it read.
    positions: Vec<(u32, u64)>,
}

impl NamedReaders {
    pub(crate) fn new(readers_max: usize, retain_age_ms: u64) -> Self {
        let stale_ms = if retain_age_ms == 0 { i64::MAX } else { i64::try_from(retain_age_ms).unwrap_or(i64::MAX) };
        Self { readers: vec![], readers_max, stale_ms, dirty: false }
    }

    /// Remembers that `by` reads from `offset`: everything before it counts as read.
    pub(crate) fn touch(&mut self, by: ReadBy<'_>, partition: u32, offset: u64, now_ms: i64) -> Result<(), Refused> {
        let place = match self.readers.iter().position(|reader| reader.name == by.name) {
            Some(place) => place,
            None => self.admit(by.name, now_ms)?,
        };
        let reader = &mut self.readers[place];
        match &reader.owner {
            Some(owner) if by.owner != Some(owner) && !by.overrides => return Err(Refused::Taken),
            Some(_) => {}
            None => reader.owner = by.owner.map(str::to_owned),
        }
        reader.seen_at_ms = now_ms;
        match reader.positions.binary_search_by_key(&partition, |position| position.0) {
            Ok(found) => reader.positions[found].1 = offset,
            Err(gap) => reader.positions.insert(gap, (partition, offset)),
        }
        self.dirty = true;
        Ok(())
    }

    fn admit(&mut self, name: &str, now_ms: i64) -> Result<usize, Refused> {
        if !is_name(name) {
            return Err(Refused::Name);
        }
        if self.readers.len() >= self.readers_max {
            let stalest = self.readers.iter().enumerate().min_by_key(|(_, reader)| reader.seen_at_ms);
            match stalest {
                Some((place, reader)) if now_ms.saturating_sub(reader.seen_at_ms) > self.stale_ms => {
                    self.readers.swap_remove(place);
                }
                _ => return Err(Refused::Full),
            }
        }
        self.readers.push(NamedReader { name: name.to_owned(), owner: None, seen_at_ms: now_ms, positions: vec![] });
        Ok(self.readers.len() - 1)
    }

    /// Forgets a reader; true when there was one.
    pub(crate) fn forget(&mut self, name: &str) -> bool {
        let before = self.readers.len();
        self.readers.retain(|reader| reader.name != name);
        self.dirty |= self.readers.len() < before;
        self.readers.len() < before
    }

    /// Offsets `first[p]..next[p]` of each partition are about to go: who has not read them? Each such reader is moved
    /// forward, so that a lost message is reported once.
    pub(crate) fn trimmed(&mut self, stream: &str, first: &[u64], next: &[u64]) -> Vec<TrimmedUnread> {
        let mut unread = vec![];
        for reader in &mut self.readers {
            for (partition, position) in &mut reader.positions {
                let place = *partition as usize;
                let from_offset = (*position).max(first[place]);
                if from_offset < next[place] {
                    *position = next[place];
                    self.dirty = true;
                    let (stream, reader) = (stream.to_owned(), reader.name.clone());
                    let until_offset = next[place];
                    unread.push(TrimmedUnread { stream, partition: *partition, reader, from_offset, until_offset });
                }
            }
        }
        unread
    }

    pub(crate) fn list(&self) -> Vec<ReaderInfo> {
        let info = |reader: &NamedReader| ReaderInfo {
            name: reader.name.clone(),
            seen_at_ms: reader.seen_at_ms,
            positions: reader.positions.clone(),
        };
        self.readers.iter().map(info).collect()
    }

    /// The file's contents when something changed since the last call.
    pub(crate) fn encode_if_dirty(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.dirty).then(|| self.encode())
    }

    /// The last contents did not reach the disk: they count as changed again.
    pub(crate) fn not_saved(&mut self) {
        self.dirty = true;
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = (self.readers.len() as u32).to_le_bytes().to_vec();
        for reader in &self.readers {
            body.extend_from_slice(&(reader.name.len() as u32).to_le_bytes());
            body.extend_from_slice(reader.name.as_bytes());
            body.extend_from_slice(&reader.seen_at_ms.to_le_bytes());
            body.extend_from_slice(&(reader.positions.len() as u32).to_le_bytes());
            for (partition, offset) in &reader.positions {
                body.extend_from_slice(&partition.to_le_bytes());
                body.extend_from_slice(&offset.to_le_bytes());
            }
        }
        // Behind all that there was before names had owners, and only if one has: who does not know it leaves it out.
        if self.readers.iter().any(|reader| reader.owner.is_some()) {
            for reader in &self.readers {
                let owner = reader.owner.as_deref();
                let length = owner.map_or(NOBODY, |owner| owner.len() as u32);
                body.extend_from_slice(&length.to_le_bytes());
                body.extend_from_slice(owner.unwrap_or_default().as_bytes());
            }
        }
        let mut out = vec![];
        RecordHeader::own(RecordKind::Readers, 0).encode(&body, NO_SALT, &mut out);
        out
    }

    /// Takes in a file's contents; readers beyond the limit and partitions that are not there are left out.
    pub(crate) fn restore(&mut self, bytes: &[u8], partitions: u32) -> Result<(), Fault> {
        let (_, mut body) = decode_only(bytes, RecordKind::Readers)?;
        let malformed = || Fault::Misplaced("positions of the wrong length");
        let count = take(&mut body, 4).map(|bytes| u32_at(bytes, 0)).ok_or_else(malformed)?;
        let mut readers = vec![];
        for _ in 0..count {
            readers.push(take_reader(&mut body).ok_or_else(malformed)?);
        }
        if !body.is_empty() {
            for reader in &mut readers {
                reader.owner = take_owner(&mut body).ok_or_else(malformed)?;
            }
        }
        readers.truncate(self.readers_max);
        for reader in &mut readers {
            reader.positions.retain(|(partition, _)| *partition < partitions);
        }
        self.readers = readers;
        Ok(())
    }
}

/// In place of the length of an owner's name: there is none.
const NOBODY: u32 = u32::MAX;

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_reader(body: &mut &[u8]) -> Option<NamedReader> {
    let name_bytes = u32_at(take(body, 4)?, 0) as usize;
    let name = std::str::from_utf8(take(body, name_bytes)?).ok()?.to_owned();
    let seen_at_ms = u64_at(take(body, 8)?, 0) as i64;
    let count = u32_at(take(body, 4)?, 0) as usize;
    let pairs = take(body, count.checked_mul(12)?)?;
    let positions = pairs.chunks_exact(12).map(|pair| (u32_at(pair, 0), u64_at(pair, 4))).collect();
    Some(NamedReader { name, owner: None, seen_at_ms, positions })
}

fn take_owner(body: &mut &[u8]) -> Option<Option<String>> {
    let bytes = u32_at(take(body, 4)?, 0);
    if bytes == NOBODY {
        return Some(None);
    }
    Some(Some(std::str::from_utf8(take(body, bytes as usize)?).ok()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn itself(name: &str) -> ReadBy<'_> {
        ReadBy::itself(name)
    }

    fn of<'a>(owner: &'a str, name: &'a str) -> ReadBy<'a> {
        ReadBy { name, owner: Some(owner), overrides: false }
    }

    /// Does nobody move another's reader, over a restart too, while whoever administers may, and it stays whose it was?
    #[test]
    fn a_name_belongs_to_who_began_it() {
        let mut readers = NamedReaders::new(4, 1000);
        readers.touch(of("alice", "spark"), 0, 60, 5).expect("room");
        readers.touch(ReadBy { name: "free", owner: None, overrides: false }, 0, 1, 5).expect("room");
        let bytes = readers.encode_if_dirty().expect("changed");
        let mut again = NamedReaders::new(4, 1000);
        for length in 0..bytes.len() {
            assert!(again.restore(&bytes[..length], 1).is_err());
        }
        again.restore(&bytes, 1).expect("as written");
        for mut readers in [readers, again] {
            let nobody = ReadBy { name: "spark", owner: None, overrides: false };
            for other in [of("eve", "spark"), nobody] {
                assert_eq!(readers.touch(other, 0, 99, 6), Err(Refused::Taken));
            }
            assert_eq!((readers.list()[0].seen_at_ms, readers.list()[0].positions[0].1), (5, 60), "nothing has moved");
            readers.touch(ReadBy { overrides: true, ..of("root", "spark") }, 0, 70, 7).expect("an administrator");
            readers.touch(of("alice", "spark"), 0, 80, 8).expect("still hers");
            readers.touch(of("bob", "free"), 0, 2, 9).expect("it was nobody's");
            assert_eq!(readers.touch(of("alice", "free"), 0, 3, 9), Err(Refused::Taken));
        }
    }

    #[test]
    fn positions_survive_a_restart_and_every_truncation_is_noticed() {
        let mut readers = NamedReaders::new(4, 1000);
        readers.touch(itself("spark"), 1, 70, 5).expect("room");
        readers.touch(itself("spark"), 0, 60, 6).expect("room");
        readers.touch(itself("other"), 0, 1, 7).expect("room");
        let bytes = readers.encode_if_dirty().expect("changed");
        assert!(readers.encode_if_dirty().is_none());
        let mut again = NamedReaders::new(4, 1000);
        again.restore(&bytes, 2).expect("as written");
        assert_eq!(format!("{:?}", again.list()), format!("{:?}", readers.list()));
        for length in 0..bytes.len() {
            assert!(again.restore(&bytes[..length], 2).is_err());
        }
    }

    #[test]
    fn the_table_is_bounded_and_only_a_stale_reader_makes_room() {
        let mut readers = NamedReaders::new(2, 1000);
        readers.touch(itself("a"), 0, 0, 0).expect("room");
        readers.touch(itself("b"), 0, 0, 500).expect("room");
        assert_eq!(readers.touch(itself("c"), 0, 0, 900), Err(Refused::Full));
        assert_eq!(readers.touch(itself("a b"), 0, 0, 900), Err(Refused::Name));
        readers.touch(itself("c"), 0, 0, 1001).expect("a is stale");
        let names: Vec<_> = readers.list().into_iter().map(|reader| reader.name).collect();
        assert_eq!(names, ["b", "c"]);
        assert!(readers.forget("b") && !readers.forget("b"));
    }

    #[test]
    fn each_lost_message_is_reported_once_per_reader() {
        let mut readers = NamedReaders::new(2, 1000);
        readers.touch(itself("a"), 0, 5, 0).expect("room");
        readers.touch(itself("b"), 0, 20, 0).expect("room");
        let unread = readers.trimmed("s", &[0], &[10]);
        assert_eq!(unread.len(), 1);
        assert_eq!((unread[0].reader.as_str(), unread[0].from_offset, unread[0].until_offset), ("a", 5, 10));
        assert!(readers.trimmed("s", &[0], &[10]).is_empty());
    }
}
