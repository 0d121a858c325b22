//! What the system's answer to a failed call means: may it be tried again, or must the node stop?

use std::io;
use std::path::Path;

use crate::error::StoreError;
use lapwing_files::WrongKind;

impl StoreError {
    pub(crate) fn io(operation: &'static str, file: &Path, source: io::Error) -> Self {
        if let Some(found) = WrongKind::in_error(&source) {
            return Self::WrongKind { file: file.to_path_buf(), found };
        }
        Self::Io { operation, file: file.to_path_buf(), source }
    }

    /// A failed write: out of space is retryable, anything else is not.
    pub(crate) fn write(operation: &'static str, file: &Path, source: io::Error) -> Self {
        let file = file.to_path_buf();
        match is_full(&source) {
            true => Self::Full { operation, file },
            false => Self::WriteFailed { operation, file, source },
        }
    }

    /// A file that could not be made: clients may hold every descriptor of the process, and let go of them again.
    pub(crate) fn make(operation: &'static str, file: &Path, source: io::Error) -> Self {
        match is_exhausted(&source) || source.raw_os_error() == Some(libc::ENOMEM) {
            true => Self::Exhausted { operation, file: file.to_path_buf(), source },
            false => Self::write(operation, file, source),
        }
    }

    pub(crate) fn sync(operation: &'static str, file: &Path, source: io::Error) -> Self {
        Self::SyncFailed { operation, file: file.to_path_buf(), source }
    }
}

/// Out of blocks, or out of quota: both heal when space returns.
fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

/// No descriptor was left; the call did nothing.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which answers of the system may be followed by another try, and which never?
    #[test]
    fn space_and_descriptors_come_back_and_nothing_else_does() {
        let (file, answer) = (Path::new("/data/log/1.log"), io::Error::from_raw_os_error);
        for (errno, may_write, may_make) in [
            (libc::ENOSPC, true, true),
            (libc::EDQUOT, true, true),
            (libc::EMFILE, false, true),
            (libc::ENFILE, false, true),
            (libc::ENOMEM, false, true),
            (libc::EIO, false, false),
            (libc::EROFS, false, false),
        ] {
            let (write, make) =
                (StoreError::write("write to", file, answer(errno)), StoreError::make("make", file, answer(errno)));
            assert_eq!((write.is_retryable(), write.is_fatal()), (may_write, !may_write), "{write}");
            assert_eq!((make.is_retryable(), make.is_fatal()), (may_make, !may_make), "{make}");
            let sync = StoreError::sync("sync", file, answer(errno));
            assert!(sync.is_fatal() && !sync.is_retryable(), "what was not synced may be gone: {sync}");
        }
    }
}
