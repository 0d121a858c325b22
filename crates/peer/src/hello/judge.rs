//! Whether two nodes may speak to each other.

use super::{Hello, Refusal, Table};
use crate::NodeId;

/// What is known already of the node that somebody says to be: from the cluster's metadata, and from who was connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The uuid of its folder.
    pub folder: [u8; 16],
    /// Its newest boot.
    pub boot: u64,
    /// What it had drawn at the start of that boot, if anybody here has heard it.
    pub start: Option<u64>,
}

/// What two hellos come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The version of the protocol, the newest that both speak.
    pub version: u16,
}

/// Judges a hello by one's own, and by what is `known` of the node that it names, `None` where that is nothing.
///
/// A certificate has said before that the node is one of the cluster; this is about folders, versions and tables. Both sides
/// judge. Each sees what the other does not: a node that was restored from a backup learns it from the others.
/// # Errors
/// The first reason against it, worst first. It is told to the other node ([`Refused`](crate::Refused)), which ends.
pub fn judge(mine: &Hello<'_>, theirs: &Hello<'_>, known: Option<&Known>) -> Result<Agreed, Refusal> {
    if mine.cluster != theirs.cluster {
        return Err(Refusal::OtherCluster { mine: mine.cluster, theirs: theirs.cluster });
    }
    check_id(mine, theirs)?;
    if let Some(known) = known {
        check_folder(theirs, known)?;
    }
    if mine.link != theirs.link {
        return Err(Refusal::OtherLink { mine: mine.link, theirs: theirs.link });
    }
    let common = mine.versions.common(theirs.versions);
    let version = common.ok_or(Refusal::NoCommonVersion { mine: mine.versions, theirs: theirs.versions })?;
    check_levels(mine, theirs)?;
    check_tables(mine, theirs)?;
    Ok(Agreed { version })
}

/// Nobody else has this node's id.
fn check_id(mine: &Hello<'_>, theirs: &Hello<'_>) -> Result<(), Refusal> {
    if mine.node != theirs.node {
        return Ok(());
    }
    let (node, boot) = (theirs.node, theirs.boot);
    Err(match (mine.folder == theirs.folder, mine.start == theirs.start) {
        (false, _) => Refusal::OtherFolder { node },
        (true, false) => Refusal::CopiedFolder { node, boot },
        (true, true) => Refusal::Itself,
    })
}

/// The folder is the one that is known under the id, has not gone back, and is there once.
fn check_folder(theirs: &Hello<'_>, known: &Known) -> Result<(), Refusal> {
    let (node, boot) = (theirs.node, theirs.boot);
    if known.folder != theirs.folder {
        return Err(Refusal::OtherFolder { node });
    }
    if boot < known.boot {
        return Err(Refusal::OlderBoot { node, boot, known: known.boot });
    }
    match known.start {
        Some(start) if boot == known.boot && start != theirs.start => Err(Refusal::CopiedFolder { node, boot }),
        _ => Ok(()),
    }
}

/// Each reads what the other's cluster writes.
fn check_levels(mine: &Hello<'_>, theirs: &Hello<'_>) -> Result<(), Refusal> {
    let too_old = |node: NodeId, newest: u16, in_force: u16| Refusal::LevelTooNew { node, newest, in_force };
    let (my_levels, their_levels) = (mine.levels, theirs.levels);
    if their_levels.newest() < my_levels.in_force() {
        return Err(too_old(theirs.node, their_levels.newest(), my_levels.in_force()));
    }
    if my_levels.newest() < their_levels.in_force() {
        return Err(too_old(mine.node, my_levels.newest(), their_levels.in_force()));
    }
    Ok(())
}

fn check_tables(mine: &Hello<'_>, theirs: &Hello<'_>) -> Result<(), Refusal> {
    let different: Option<Table> = mine.tables.first_difference(theirs.tables);
    different.map_or(Ok(()), |table| Err(Refusal::TablesDiffer { table, mine: mine.node, theirs: theirs.node }))
}
