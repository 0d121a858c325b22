//! How a file ends that is to be a trail: judged before anything of it is changed, for it may be another one, named by mistake.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use lapwing_files::open_file;

use super::chain::Chain;

/// Bytes at a file's end in which its last line is looked for; a line is shorter.
const TAIL_BYTES: u64 = 64 << 10;
/// How each line begins; then comes its number.
const HEAD: &str = r#"{"seq":"#;
/// What follows that.
const BEHIND_THE_NUMBER: &str = r#","at":""#;

/// A file's last bytes.
pub(super) struct Ending {
    /// Lines are ASCII; what is not shows as what it is, a line that was changed.
    tail: String,
    /// Bytes of the file.
    len: u64,
}

impl Ending {
    pub(super) fn of(mut file: &File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        let tail = bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect();
        Ok(Ending { tail, len })
    }

    /// Bytes of half a line, which a crash has left.
    pub(super) fn half_bytes(&self) -> u64 {
        (self.tail.len() - self.whole().len()) as u64
    }

    /// Bytes of the file without those.
    pub(super) fn whole_bytes(&self) -> u64 {
        self.len - self.half_bytes()
    }

    /// Where the trail goes on that is written to `path`, which ends so.
    ///
    /// # Errors
    /// What is wrong, in words; it may be no trail at all.
    pub(super) fn goes_on(&self, path: &Path, chained: bool) -> Result<Chain, String> {
        if let Some(line) = self.last_line() {
            return Chain::behind(line, chained);
        }
        if !self.is_begun() {
            return Err("no line of a trail stands at its end".to_owned());
        }
        // A crash between two files leaves a new one without a line, or none.
        let before = older(path, 1);
        let wrong = |error: io::Error| format!("{}: {error}", before.display());
        let Some(ending) = ending_if_there(&before).map_err(wrong)? else { return Ok(Chain::begin(chained)) };
        ending.last_line().map_or_else(|| Ok(Chain::begin(chained)), |line| Chain::behind(line, chained))
    }

    /// Without the half line at the end.
    fn whole(&self) -> &str {
        &self.tail[..self.tail.rfind('\n').map_or(0, |at| at + 1)]
    }

    fn last_line(&self) -> Option<&str> {
        self.whole().trim_end_matches('\n').rsplit('\n').next().filter(|line| !line.is_empty())
    }

    /// Whether no more is in it than the beginning of a first line, whose rest a crash has taken, or made zeros.
    fn is_begun(&self) -> bool {
        let begun = self.tail.trim_matches('\n').trim_end_matches('\0');
        let at = begun.strip_prefix(HEAD).map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        let is_a_line = at.map_or_else(
            || HEAD.starts_with(begun),
            |at| at.starts_with(BEHIND_THE_NUMBER) || BEHIND_THE_NUMBER.starts_with(at),
        );
        self.len == self.tail.len() as u64 && is_a_line
    }
}

pub(super) fn older(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

fn ending_if_there(path: &Path) -> io::Result<Option<Ending>> {
    match open_file(OpenOptions::new().read(true), libc::O_NOFOLLOW, path) {
        Ok(file) => Ending::of(&file).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(bytes: &[u8]) -> Ending {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, bytes).unwrap();
        Ending::of(&file).unwrap()
    }

    /// Is half a first line one that a crash has left, and what somebody else wrote not?
    #[test]
    fn half_a_first_line_is_known_by_how_it_begins() {
        let line = br#"{"seq":17,"at":"2026-11-25T17:24:00.123456Z","event":"x"#;
        for len in 0..=line.len() {
            assert!(ending(&line[..len]).is_begun(), "{len}");
            assert!(ending(&[&line[..len], &[0; 20]].concat()).is_begun(), "{len} and zeros");
        }
        for other in ["a note", "{", r#"{"seq":"a""#, r#"{"seq":17}"#, r#"{"id":17"#, "\0a"] {
            assert_eq!(ending(other.as_bytes()).is_begun(), other == "{", "{other:?}");
        }
        assert!(!ending(&vec![0; TAIL_BYTES as usize + 1]).is_begun(), "more than a line has");
    }

    /// Is the last line found behind much else, and half a line behind it counted?
    #[test]
    fn the_last_line_is_found() {
        let long = [vec![b'x'; TAIL_BYTES as usize], b"\nlast\nhalf".to_vec()].concat();
        let found = ending(&long);
        assert_eq!((found.last_line(), found.half_bytes()), (Some("last"), 4));
        assert_eq!(found.whole_bytes(), TAIL_BYTES + 6);
        assert_eq!(ending(b"half").last_line(), None);
    }
}
