//! The first frame both ways, and what is made of it.
//!
//! ```text
//!   0 magic [u8; 8]       8 oldest version u16   10 newest version u16   12 link u8   13 node u8   14 zero u16
//!  16 cluster [u8; 16]   32 folder [u8; 16]      48 boot u64             56 start u64
//!  64 level in force u16 66 newest level u16     68 frame bytes max u32  72 window bytes u64
//!  80 hashes of the tables, 5 x [u8; 32]        240 software: length u16, text
//!     addresses: count u16, each length u16, text
//! ```
//!
//! These fields are where they are for ever: two versions that cannot speak to each other say so by them.

mod address;
mod judge;
mod levels;
mod link;
mod refusal;
mod tables;
mod versions;

pub use judge::{Agreed, Known, judge};
pub use levels::Levels;
pub use link::Link;
pub use refusal::Refusal;
pub use tables::{Table, TableHashes};
pub use versions::Versions;

use crate::bounds::{ADDRESSES_MAX, FRAME_BYTES_MIN, SOFTWARE_BYTES_MAX};
use crate::wire::{Input, List, Pack, put_short_text, put_zeros};
use crate::{EncodeError, Fault, FaultKind, NodeId};

const MAGIC: [u8; 8] = *b"LapwPeer";

/// Who a node is, and what it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello<'a> {
    /// Versions of the protocol that it speaks.
    pub versions: Versions,
    /// Which of the connections between two nodes this is.
    pub link: Link,
    /// Its id.
    pub node: NodeId,
    /// The cluster's id.
    pub cluster: [u8; 16],
    /// The uuid of its data folder.
    pub folder: [u8; 16],
    /// How often that folder was started on; written into it before anything is said.
    pub boot: u64,
    /// Drawn at random at each start: two processes of one boot are two folders, of which one is a copy.
    pub start: u64,
    /// Feature levels.
    pub levels: Levels,
    /// The most bytes behind a header that it takes, at least [`FRAME_BYTES_MIN`].
    pub frame_bytes_max: u32,
    /// Bytes of batches that it takes beyond those that it says are done; see [`Window`](crate::Window).
    pub window_bytes: u64,
    /// What must be the same on all nodes.
    pub tables: TableHashes<'a>,
    /// Its software, for people: visible ASCII without spaces.
    pub software: &'a str,
    /// HOST:PORT at which it can be reached by other nodes, the best first; visible ASCII.
    pub addresses: List<'a, &'a str>,
}

impl<'a> Pack<'a> for Hello<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if (self.frame_bytes_max as usize) < FRAME_BYTES_MIN {
            return Err(EncodeError::Impossible("a bound of frames that no message fits"));
        }
        out.extend_from_slice(&MAGIC);
        self.versions.put(out)?;
        self.link.put(out)?;
        self.node.put(out)?;
        put_zeros::<2>(out);
        out.extend_from_slice(&self.cluster);
        out.extend_from_slice(&self.folder);
        out.extend_from_slice(&self.boot.to_le_bytes());
        out.extend_from_slice(&self.start.to_le_bytes());
        self.levels.put(out)?;
        out.extend_from_slice(&self.frame_bytes_max.to_le_bytes());
        out.extend_from_slice(&self.window_bytes.to_le_bytes());
        self.tables.put(out)?;
        put_short_text(self.software, SOFTWARE_BYTES_MAX, "the version of the software", out)?;
        self.addresses.put(ADDRESSES_MAX, "addresses of a node", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        if input.array::<8>("the magic number")? != MAGIC {
            return Err(here.fault(FaultKind::Magic, "no node of ours begins so"));
        }
        let versions = Versions::take(input)?;
        let link = Link::take(input)?;
        let node = NodeId::take(input)?;
        input.zeros::<2>()?;
        Ok(Hello {
            versions,
            link,
            node,
            cluster: input.array("the cluster's id")?,
            folder: input.array("the folder's id")?,
            boot: input.u64("the number of the boot")?,
            start: input.u64("the number of the start")?,
            levels: Levels::take(input)?,
            frame_bytes_max: take_frame_bytes_max(input)?,
            window_bytes: input.u64("the window")?,
            tables: TableHashes::take(input)?,
            software: input.text(SOFTWARE_BYTES_MAX, "the version of the software")?,
            addresses: List::take(input, ADDRESSES_MAX, "addresses of a node")?,
        })
    }
}

fn take_frame_bytes_max(input: &mut Input<'_>) -> Result<u32, Fault> {
    let here = *input;
    match input.u32("the bound of frames")? {
        max if max as usize >= FRAME_BYTES_MIN => Ok(max),
        max => Err(here.malformed("a bound of frames that no message fits").with(max.into())),
    }
}
