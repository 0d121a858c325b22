//! An order to set something aside for the journal, and what has become of it: all that takes as long as the disk does.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fill::Fill;
use super::growing::{Grow, Grown};
use super::room::{reserve_path, spare_path};
use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;

/// What is to be set aside.
#[derive(Debug)]
pub struct RoomOrder {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    /// Bytes of the reserve, and how many more must be free.
    pub(super) reserve: Option<(u64, u64)>,
    /// More room in the active segment.
    pub(super) grow: Option<Grow>,
    /// Bytes of the spare segment.
    pub(super) spare: Option<u64>,
    /// What is to be done with the spare afterwards.
    pub(super) fill: Option<Fill>,
    /// What is to be done in the active segment, whatever becomes of the rest.
    pub(super) ahead: Option<Fill>,
}

/// What has become of an order; false where space cannot be reserved.
#[derive(Debug)]
pub struct RoomMade {
    /// Of what size.
    pub(super) reserve: Option<(u64, Result<bool, StoreError>)>,
    pub(super) grown: Option<Grown>,
    pub(super) spare: Option<Result<bool, StoreError>>,
    pub(super) fill: Option<Fill>,
    pub(super) ahead: Option<Fill>,
}

impl RoomOrder {
    /// Sets aside; takes as long as the disk does. Without space for the reserve the rest is not tried.
    #[must_use = "the writer has to be told with room_made()"]
    pub fn carry_out(self) -> RoomMade {
        let reserve = self
            .reserve
            .map(|(bytes, more_bytes)| (bytes, make(&*self.disk, &reserve_path(&self.dir), bytes, more_bytes)));
        let may_go_on = !matches!(reserve, Some((_, Err(_))));
        let grown = self.grow.filter(|_| may_go_on).map(Grow::carry_out);
        let may_go_on = may_go_on && grown.as_ref().is_none_or(|grown| grown.result.is_ok());
        let spare = self.spare.filter(|_| may_go_on);
        let spare = spare.map(|bytes| make(&*self.disk, &spare_path(&self.dir), bytes, 0));
        let fill = self.fill.filter(|_| matches!(spare, Some(Ok(true))));
        RoomMade { reserve, grown, spare, fill, ahead: self.ahead }
    }
}

impl RoomMade {
    /// The spare may be filled beside the writer, before and after that is told.
    pub(crate) fn take_spare_fill(&mut self) -> Option<Fill> {
        self.fill.take()
    }

    /// So may the active segment be.
    pub(crate) fn take_active_fill(&mut self) -> Option<Fill> {
        self.ahead.take()
    }
}

/// Makes a file of this size, or makes one larger, where so many more bytes are free; false where space cannot be reserved.
///
/// # Errors
/// `Full`, `Exhausted`: it is there as it was before, or not at all. `WriteFailed`.
fn make(disk: &dyn Disk, file: &Path, bytes: u64, more_bytes: u64) -> Result<bool, StoreError> {
    let make = |error| StoreError::make("set space aside in", file, error);
    let (handle, before_bytes) = open_or_create(disk, file).map_err(make)?;
    let reserved = handle.allocate(bytes + more_bytes).and_then(|reserved| {
        if more_bytes > 0 {
            handle.set_len(bytes)?;
        }
        Ok(reserved)
    });
    if !matches!(reserved, Ok(true)) {
        // What cannot be taken back is written over at the next try.
        let _ = match before_bytes {
            0 => disk.remove(file),
            before_bytes => handle.set_len(before_bytes),
        };
    }
    reserved.map_err(|error| StoreError::write("reserve space in", file, error))
}

/// Also the size that it had.
fn open_or_create(disk: &dyn Disk, file: &Path) -> io::Result<(Arc<dyn DiskFile>, u64)> {
    match disk.open(file, Access::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((disk.open(file, Access::Create)?, 0)),
        Err(error) => Err(error),
        Ok(handle) => {
            let bytes = handle.bytes()?;
            Ok((handle, bytes))
        }
    }
}
