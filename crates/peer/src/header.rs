//! What each frame begins with.
//!
//! ```text
//! 0 body bytes u32        4 kind u8  5 version u8  6 zero u16
//! ```

use crate::wire::Input;
use crate::{Fault, FaultKind, Kind, Stage};

/// Bytes in front of a frame's body.
pub const HEADER_BYTES: usize = 8;
/// The version of each frame that this program writes.
pub const FRAME_VERSION: u8 = 1;

/// A header that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) version: u8,
    pub(crate) body_bytes: usize,
}

impl Header {
    /// Reads the header that `bytes` begins with, [`HEADER_BYTES`] at least: nobody gathers what will be refused.
    pub(crate) fn read(bytes: &[u8], stage: Stage, frame_bytes_max: usize) -> Result<Self, Fault> {
        let mut input = Input::new(bytes, 0);
        let body_bytes = input.u32("the length of a frame")?;
        let max = stage.body_bytes_max(frame_bytes_max);
        let Some(body_bytes) = usize::try_from(body_bytes).ok().filter(|bytes| *bytes <= max) else {
            return Err(Fault::new(FaultKind::TooLong, "the length of a frame", 0).with(body_bytes.into()));
        };
        let kind = Self::kind(&mut input, stage)?;
        let version = Self::version(&mut input, kind)?;
        input.zeros::<2>()?;
        Ok(Header { kind, version, body_bytes })
    }

    fn kind(input: &mut Input<'_>, stage: Stage) -> Result<Kind, Fault> {
        let here = *input;
        let value = input.u8("the kind of a frame")?;
        let unknown = here.fault(FaultKind::UnknownKind, "a kind of frame that this version does not have");
        let kind = Kind::from_u8(value).ok_or(unknown.with(value.into()))?;
        match kind.is_at(stage) {
            true => Ok(kind),
            false => Err(here.fault(FaultKind::OutOfPlace, "a frame that may not come here").with(value.into())),
        }
    }

    fn version(input: &mut Input<'_>, kind: Kind) -> Result<u8, Fault> {
        let here = *input;
        match input.u8("the version of a frame")? {
            version if version == FRAME_VERSION || (version > FRAME_VERSION && kind.is_read_in_any_version()) => {
                Ok(version)
            }
            version => Err(here.fault(FaultKind::Version, "a frame of another version").with(version.into())),
        }
    }

    /// Appends the header of a frame whose body will follow; [`close`] fills in how long that is.
    pub(crate) fn open(kind: Kind, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0, 0, 0, kind.value(), FRAME_VERSION, 0, 0]);
    }
}

/// Says in the header at `start` that the frame ends where `out` does. Its body has at most `u32::MAX` bytes.
pub(crate) fn close(start: usize, out: &mut [u8]) {
    let body_bytes = (out.len() - start - HEADER_BYTES) as u32;
    out[start..start + 4].copy_from_slice(&body_bytes.to_le_bytes());
}
