//! Whether something else is in files of certificates and keys than before: for the audit trail of a broker with Python or
//! without.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::OnceLock;

use lapwing_files::{CERTIFICATE_BYTES_MAX, read_file};

/// A number that stands for what is in all of `files`, under a key of this process; None: there are none. One that cannot be
/// read, or is too long for whoever uses it, is another than an empty one: its user tells of it.
pub fn files_digest(files: &[PathBuf]) -> Option<u64> {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    let contents: Vec<Option<Vec<u8>>> = files.iter().map(|file| read_file(file, CERTIFICATE_BYTES_MAX).ok()).collect();
    (!contents.is_empty()).then(|| KEY.get_or_init(RandomState::new).hash_one(contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each byte count, in the file that it is in, and is what is gone something else than what is empty?
    #[test]
    fn what_is_in_the_files_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = ["a", "b"].map(|name| folder.path().join(name));
        let mut seen = Vec::new();
        for (first, second) in [("x", "y"), ("xy", ""), ("", "xy"), ("x", "z")] {
            std::fs::write(&files[0], first).expect("written");
            std::fs::write(&files[1], second).expect("written");
            let digest = files_digest(&files);
            assert!(digest.is_some() && digest == files_digest(&files));
            seen.push(digest);
        }
        std::fs::write(&files[1], "").expect("written");
        seen.push(files_digest(&files));
        std::fs::remove_file(&files[1]).expect("it is there");
        seen.push(files_digest(&files));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 6);
        assert_eq!(files_digest(&[]), None);
    }
}
