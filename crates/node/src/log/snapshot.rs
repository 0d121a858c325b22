//! A data group's state as the bytes of a snapshot: its chunks, each behind its length.

use std::io::{self, Read, Write};

use lapwing_ledger::{DataGroupState, Fault, FrozenState, Restorer};
use lapwing_store::StoreError;

/// No chunk is longer: a single record of a session with all its filters.
const CHUNK_BYTES_MAX: usize = 1 << 30;

/// Writes all of a state as it was.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(state: FrozenState, out: &mut impl Write) -> io::Result<()> {
    state.write(&mut |chunk: &[u8]| {
        out.write_all(&(chunk.len() as u32).to_le_bytes())?;
        out.write_all(chunk)
    })
}

/// Why a snapshot is no state.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The bytes could not be had.
    Io(io::Error),
    /// They are there, and say something else.
    Fault(Fault),
}

/// The log's own error, out of the one that carried it through `Read` or `Write`.
pub(crate) fn store_error(error: io::Error) -> StoreError {
    // Nothing else fails there; were it otherwise, the log could not be trusted with it.
    error.downcast().unwrap_or_else(|other| StoreError::Stopped { reason: other.to_string() })
}

/// Reads a state back.
///
/// # Errors
/// See [`Unreadable`].
pub(crate) fn read(bytes: &mut impl Read) -> Result<DataGroupState, Unreadable> {
    let (mut restorer, mut chunk) = (Restorer::new(), Vec::new());
    loop {
        let mut length = [0; 4];
        match bytes.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(Unreadable::Io(error)),
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > CHUNK_BYTES_MAX {
            return Err(Unreadable::Fault(Fault::Snapshot { what: "a chunk claims to be longer than any" }));
        }
        chunk.resize(length, 0);
        bytes.read_exact(&mut chunk).map_err(Unreadable::Io)?;
        restorer.chunk(&chunk).map_err(Unreadable::Fault)?;
    }
    restorer.finish().map_err(Unreadable::Fault)
}

#[cfg(test)]
mod tests {
    use lapwing_ledger::{DataGroupState, Entry, Opened};

    use super::*;

    /// Does a state come back as it was, and is one that was cut no state?
    #[test]
    fn there_and_back() {
        let mut state = DataGroupState::new();
        for index in 1..200 {
            let (client_id, mut entry) = (format!("client-{index}").repeat(100), vec![]);
            let opened = Opened { client_id: &client_id, identity: b"", expiry_s: 60, opened_at_ms: index, will: None };
            Entry::Opened(opened).encode(&mut entry).expect("within bounds");
            state.apply(index, &entry).expect("in order");
        }
        let mut bytes = vec![];
        write(state.freeze(), &mut bytes).expect("memory takes all");
        let again = read(&mut bytes.as_slice()).expect("as written");
        assert_eq!((again.applied(), again.sessions().count()), (199, 199));
        for length in [0, 3, 4, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(read(&mut &bytes[..length]).is_err(), "cut at {length}");
        }
    }
}
