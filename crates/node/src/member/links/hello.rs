//! What this node says of itself first, and what it makes of what others say.

use lapwing_cluster::ClusterState;
use lapwing_peer::{
    Frame, Hello, Known, Levels, Link as LinkKind, List, NodeId, Refusal, TableHashes, Versions, judge,
};

/// The newest feature level of this program.
pub(crate) const NEWEST_LEVEL: u16 = 1;
/// The longest frame that this node takes, in bytes behind its header.
pub(crate) const FRAME_BYTES_MAX: usize = 1 << 20;

/// Who this node is to others, for the life of its process.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) node: NodeId,
    pub(crate) cluster: [u8; 16],
    pub(crate) folder: [u8; 16],
    pub(crate) boot: u64,
    /// Drawn at the start: two processes of one boot are two folders.
    pub(crate) start: u64,
    pub(crate) window_bytes: u64,
    /// Of the tables that must be the same everywhere, in the order of `lapwing_peer::Table::ALL`.
    pub(crate) tables: [[u8; 32]; 5],
    /// For people.
    pub(crate) software: String,
    /// Where others reach it.
    pub(crate) addresses: Vec<String>,
}

/// What another node said of itself, once it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Introduced {
    pub(crate) node: NodeId,
    pub(crate) folder: [u8; 16],
    pub(crate) boot: u64,
    pub(crate) start: u64,
    /// Of the protocol, as both speak it.
    pub(crate) version: u16,
    pub(crate) newest_level: u16,
    pub(crate) frame_bytes_max: usize,
    pub(crate) window_bytes: u64,
    pub(crate) software: String,
    pub(crate) addresses: Vec<String>,
}

impl Own {
    /// Appends this node's hello, at the feature level that is in force.
    pub(crate) fn say(&self, level: u16, link: LinkKind, out: &mut Vec<u8>) {
        let addresses: Vec<&str> = self.addresses.iter().map(String::as_str).collect();
        let hello = Frame::Hello(self.hello(level, link, &addresses));
        // Everything in it was within its bounds when the node joined; else the others would cut the connection.
        let said = hello.encode(FRAME_BYTES_MAX, out);
        debug_assert!(said.is_ok(), "{said:?}");
    }

    fn hello<'a>(&'a self, level: u16, link: LinkKind, addresses: &'a [&'a str]) -> Hello<'a> {
        Hello {
            versions: Versions::OURS,
            link,
            node: self.node,
            cluster: self.cluster,
            folder: self.folder,
            boot: self.boot,
            start: self.start,
            levels: levels(level),
            frame_bytes_max: FRAME_BYTES_MAX as u32,
            window_bytes: self.window_bytes,
            tables: TableHashes::new(&self.tables),
            software: &self.software,
            addresses: List::from_slice(addresses),
        }
    }

    /// Whether this node speaks to who has said that, over a connection for `link`. `start`: what that node had drawn when it was
    /// heard last.
    ///
    /// # Errors
    /// Why not; it is told.
    pub(crate) fn judge(
        &self,
        theirs: &Hello<'_>,
        link: LinkKind,
        state: &ClusterState,
        start: Option<u64>,
    ) -> Result<Introduced, Refusal> {
        let member = state.member(lapwing_cluster::NodeId(theirs.node.value()));
        let known = member.map(|member| Known { folder: member.said.folder.0, boot: member.boot.0, start });
        let agreed = judge(&self.hello(level_of(state), link, &[]), theirs, known.as_ref())?;
        Ok(Introduced {
            node: theirs.node,
            folder: theirs.folder,
            boot: theirs.boot,
            start: theirs.start,
            version: agreed.version,
            newest_level: theirs.levels.newest(),
            frame_bytes_max: theirs.frame_bytes_max as usize,
            window_bytes: theirs.window_bytes,
            software: theirs.software.to_owned(),
            addresses: theirs.addresses.iter().map(str::to_owned).collect(),
        })
    }
}

/// The feature level in force.
pub(crate) fn level_of(state: &ClusterState) -> u16 {
    u16::try_from(state.level()).unwrap_or(u16::MAX)
}

fn levels(in_force: u16) -> Levels {
    // A node whose program is too old for its cluster does not start.
    Levels::new(in_force.min(NEWEST_LEVEL), NEWEST_LEVEL).expect("not above the newest")
}
