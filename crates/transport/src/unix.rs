//! Unix sockets as files: made with their permissions, removed when nobody listens any more.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Type};

/// The file of a listening Unix socket; removed when the last clone of its listener is gone.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and number of our file: another broker may have put its own in its place.
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // A file that cannot be removed is stale; the next broker removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens at `path` with the permission bits `mode`.
///
/// # Errors
/// `AddrInUse`: somebody listens there. `AlreadyExists`: there is a file that is no socket. Others as of the kernel.
pub(crate) fn bind(path: &Path, mode: u32, backlog: i32) -> io::Result<(UnixListener, SocketFile)> {
    let address = SockAddr::unix(path)?;
    let socket = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
    if let Err(error) = socket.bind(&address) {
        if error.kind() != io::ErrorKind::AddrInUse {
            return Err(error);
        }
        remove_stale(path, error)?;
        socket.bind(&address)?;
    }
    let file = SocketFile { path: path.to_owned(), identity: identity(path)? };
    // Nobody can connect before `listen`, so the permissions hold from the first connection on.
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    socket.listen(backlog)?;
    Ok((socket.into(), file))
}

/// Removes the socket at `path` if nobody listens on it; else gives `in_use` back.
fn remove_stale(path: &Path, in_use: io::Error) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Err(in_use),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the socket made with its mode, and gone with its listener?
    #[test]
    fn the_file_lives_as_long_as_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broker.sock");
        let (listener, file) = bind(&path, 0o600, 8).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        UnixStream::connect(&path).unwrap();
        drop((listener, file));
        assert!(!path.exists());
    }

    /// Is a socket that nobody listens on replaced, and one in use left alone?
    #[test]
    fn only_a_stale_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broker.sock");
        drop(UnixListener::bind(&path).unwrap());
        let (listener, file) = bind(&path, 0o660, 8).unwrap();
        assert_eq!(bind(&path, 0o660, 8).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        UnixStream::connect(&path).unwrap();
        drop((listener, file));
    }

    /// Is a file that is no socket kept, and so is a socket that another program has put in our place?
    #[test]
    fn what_is_not_ours_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        fs::write(&path, "dear diary").unwrap();
        assert_eq!(bind(&path, 0o660, 8).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary");

        let path = folder.path().join("broker.sock");
        let ours = bind(&path, 0o660, 8).unwrap();
        fs::rename(&path, folder.path().join("moved.sock")).unwrap();
        let theirs = UnixListener::bind(&path).unwrap();
        drop(ours);
        assert!(path.exists());
        drop(theirs);
    }
}
