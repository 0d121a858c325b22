//! What the metadata group's leader has to tell it: who was started, and what must be the same everywhere.

use lapwing_cluster::{Boot, Entry, Features, FolderId, NodeId, Standing, TableHash, Tables};

use super::core::Core;
use super::links::NEWEST_LEVEL;

/// The next entry that is due, if one is.
pub(super) fn next(core: &Core) -> Option<Entry> {
    let starts = own_start(core).into_iter().chain(other_starts(core));
    starts.chain(tables(core)).find(|entry| !core.is_refused(entry))
}

/// This node was started, and the cluster has not heard of it.
fn own_start(core: &Core) -> Option<Entry> {
    let own = &core.own;
    let (node, folder, boot) = (NodeId(own.node.value()), FolderId(own.folder), Boot(own.boot));
    let (addresses, release) = (own.addresses.clone(), own.software.clone());
    started(core, Entry::Booted { node, folder, boot, addresses, release, features: features() })
}

/// Nodes that are connected were started.
fn other_starts(core: &Core) -> impl Iterator<Item = Entry> {
    core.introduced.values().filter_map(|said| {
        let features = Features { most: said.newest_level.into(), ..features() };
        let (node, folder, boot) = (NodeId(said.node.value()), FolderId(said.folder), Boot(said.boot));
        let (addresses, release) = (said.addresses.clone(), said.software.clone());
        started(core, Entry::Booted { node, folder, boot, addresses, release, features })
    })
}

/// The entry, if its start is a newer one than is known of that member.
fn started(core: &Core, entry: Entry) -> Option<Entry> {
    let Entry::Booted { node, boot, .. } = &entry else { return None };
    let member = core.cluster.member(*node)?;
    (member.standing != Standing::Gone && member.boot < *boot).then_some(entry)
}

/// The first leader says what the tables are; who has others is not spoken to.
fn tables(core: &Core) -> Option<Entry> {
    let tables = Tables::new(core.own.tables.map(TableHash));
    (*core.cluster.tables() != tables).then_some(Entry::TablesSet { tables })
}

/// Feature levels that this program can live with.
pub(crate) fn features() -> Features {
    Features { least: 1, most: NEWEST_LEVEL.into() }
}
