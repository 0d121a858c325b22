//! The state of each data group: what the entries of its log add up to.
//!
//! The log thread applies what it has committed. Others look: a shard when it starts, to make sessions of what is there, and when a
//! message may be a repetition of one from before the start; the handle, to list. So each group has its lock, which nobody
//! holds for long and the log thread almost always finds free.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lapwing_ledger::{DataGroupState, Fault, KeeperId, KeptGroup, KeptSession, Origin};
use lapwing_store::journal::{DataGroupId, EntryView, JournalReader, Snapshot};

use crate::error::NodeError;
use crate::log::snapshot::{self, Unreadable, store_error};
use crate::replica::Preface;
use crate::slot::DATA_GROUPS;
use crate::start_progress::StartProgress;
use crate::words::share_name;

/// A consumer group that is kept, beside its queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    /// Kept sessions that subscribe to it.
    pub(crate) members: u32,
    /// The table with which it was declared, as JSON.
    pub(crate) declared: Option<Box<[u8]>>,
}

/// What a start has to read of a data group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Its newest snapshot; 0: it has none.
    pub(crate) snapshot_bytes: u64,
    /// What that holds ([`DataGroupState::holds`]).
    pub(crate) holds: u64,
    /// Its entries behind that.
    pub(crate) tail_bytes: u64,
}

/// The extents of all data groups.
pub(crate) type Extents = [Extent; DATA_GROUPS as usize];

/// All data groups of a node.
#[derive(Clone, Debug)]
pub(crate) struct DataGroups(Arc<[Mutex<DataGroupState>]>);

impl DataGroups {
    /// The groups as their snapshots and the log behind these have them, and how many bytes each of the two has. `progress` is
    /// told of both.
    ///
    /// # Errors
    /// `Store`: snapshots or log cannot be read. `Entry`: they hold what is no entry.
    pub(crate) fn recover(reader: &JournalReader, progress: &StartProgress) -> Result<(Self, Extents), NodeError> {
        let mut extents = Extents::default();
        let mut states = Vec::with_capacity(extents.len());
        let snapshots = snapshots(reader)?;
        progress.begin(bytes_to_read(reader, &snapshots)?);
        for ((data_group, extent), found) in (0..DATA_GROUPS).zip(&mut extents).zip(snapshots) {
            let (state, snapshot_bytes) = restore(found, data_group, progress)?;
            *extent = Extent { snapshot_bytes, holds: state.holds(), tail_bytes: 0 };
            states.push(state);
        }
        let from: Vec<u64> = states.iter().map(|state| state.applied() + 1).collect();
        let data_groups = DataGroups::of(states);
        let mut failed = None;
        let from = std::array::from_fn::<u64, { DATA_GROUPS as usize }, _>(|data_group| from[data_group]);
        let mut apply = |entry: EntryView<'_>| {
            extents[usize::from(entry.group.0)].tail_bytes += entry.body.len() as u64;
            match data_groups.get(entry.group.0).apply(entry.index, entry.body) {
                Ok(()) => ControlFlow::Continue(()),
                Err(fault) => {
                    failed = Some(NodeError::Entry { data_group: entry.group.0, index: entry.index, fault });
                    ControlFlow::Break(())
                }
            }
        };
        reader.replay_telling(&from, &mut apply, &mut |bytes| progress.read(bytes))?;
        failed.map_or(Ok((data_groups, extents)), Err)
    }

    /// The groups with these states, in their order.
    pub(crate) fn of(states: Vec<DataGroupState>) -> Self {
        debug_assert_eq!(states.len(), usize::from(DATA_GROUPS), "a state for each group");
        DataGroups(states.into_iter().map(Mutex::new).collect())
    }

    /// The groups that have a message already: a bit each.
    pub(crate) fn having(&self, origin: &Origin) -> u16 {
        (0..DATA_GROUPS)
            .filter(|data_group| self.get(*data_group).is_repeat(origin))
            .fold(0, |bits, data_group| bits | 1 << data_group)
    }

    /// Messages that wait for sessions and consumer groups, each once for each of them.
    pub(crate) fn queued(&self) -> u64 {
        (0..DATA_GROUPS).map(|data_group| self.get(data_group).queued()).sum()
    }

    /// Consumer groups that are kept, by name and filter as [`share_name`] joins them.
    pub(crate) fn shares(&self) -> BTreeMap<Box<str>, Share> {
        let mut shares = BTreeMap::new();
        for data_group in 0..DATA_GROUPS {
            let share = |kept: &KeptGroup| Share { members: 0, declared: kept.declared().map(Box::from) };
            shares.extend(
                self.get(data_group).groups().map(|kept| (share_name(kept.name(), kept.filter()), share(kept))),
            );
        }
        if shares.is_empty() {
            return shares;
        }
        for data_group in 0..DATA_GROUPS {
            for subscription in self.get(data_group).sessions().flat_map(KeptSession::subscriptions) {
                let share = subscription.filter.strip_prefix("$share/");
                if let Some(share) = share.and_then(|share| shares.get_mut(share)) {
                    share.members += 1;
                }
            }
        }
        shares
    }

    /// Entries that stand in the place of damaged ones whose loss was accepted, behind the snapshots.
    pub(crate) fn lost(&self) -> u64 {
        (0..DATA_GROUPS).map(|data_group| self.get(data_group).lost()).sum()
    }

    /// The state of a group; nobody else reads or changes it meanwhile.
    pub(crate) fn get(&self, data_group: u16) -> MutexGuard<'_, DataGroupState> {
        // A panic in another thread stops the node; what is here is as whole as `apply` leaves it.
        self.0[usize::from(data_group % DATA_GROUPS)].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The newest snapshot of each group: all that the log no longer has is in it.
fn snapshots(reader: &JournalReader) -> Result<Vec<Option<Snapshot>>, NodeError> {
    let snapshot = |data_group| {
        let purged = reader.group(DataGroupId(data_group))?.purged_index;
        let found = reader.snapshot(DataGroupId(data_group))?;
        if purged > found.as_ref().map_or(0, Snapshot::index) {
            let what = "the log no longer has what its snapshot does not have yet";
            return Err(NodeError::Entry { data_group, index: purged, fault: Fault::Snapshot { what } });
        }
        Ok(found)
    };
    (0..DATA_GROUPS).map(snapshot).collect()
}

/// Of the snapshots' files, and of the log behind them.
fn bytes_to_read(reader: &JournalReader, snapshots: &[Option<Snapshot>]) -> Result<u64, NodeError> {
    let index = |data_group: usize| snapshots[data_group].as_ref().map_or(0, Snapshot::index);
    let from = std::array::from_fn::<u64, { DATA_GROUPS as usize }, _>(|data_group| index(data_group) + 1);
    let in_snapshots: u64 = snapshots.iter().flatten().map(Snapshot::file_bytes).sum();
    Ok(in_snapshots + reader.replay_bytes(&from)?)
}

/// A group as its snapshot has it, and the bytes of that.
fn restore(
    found: Option<Snapshot>,
    data_group: u16,
    progress: &StartProgress,
) -> Result<(DataGroupState, u64), NodeError> {
    let Some(mut found) = found else { return Ok((DataGroupState::new(), 0)) };
    let mut telling = Telling { snapshot: &mut found, told_bytes: 0, progress };
    // Where a cluster was to be founded, and a crash came before that counted, it says at its front what nobody asks for.
    let state = Preface::read(&mut telling).and_then(|(_, mut state)| snapshot::read(&mut state));
    let told_bytes = telling.told_bytes;
    progress.read(found.file_bytes().saturating_sub(told_bytes));
    let state = state.map_err(|unreadable| match unreadable {
        Unreadable::Fault(fault) => NodeError::Entry { data_group, index: found.index(), fault },
        Unreadable::Io(error) => NodeError::from(store_error(error)),
    })?;
    Ok((state, found.file_bytes()))
}

/// A snapshot that says how much of it was read: less than its file has, which is more than its contents.
struct Telling<'a> {
    snapshot: &'a mut Snapshot,
    told_bytes: u64,
    progress: &'a StartProgress,
}

impl Read for Telling<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.snapshot.read(bytes)?;
        self.told_bytes += read as u64;
        self.progress.read(read as u64);
        Ok(read)
    }
}

/// For each group the index behind its last entry.
///
/// # Errors
/// `Store`.
pub(crate) fn next_indexes(reader: &JournalReader) -> Result<[u64; DATA_GROUPS as usize], NodeError> {
    let mut next = [1; DATA_GROUPS as usize];
    for (data_group, next) in (0..DATA_GROUPS).zip(&mut next) {
        *next = reader.group(DataGroupId(data_group))?.last_index + 1;
    }
    Ok(next)
}

/// A QoS 2 message of a kept session that some data groups have, while nothing says that its publisher's session has taken
/// it: the crash came in between. Its client has had no PUBCOMP: it sends the message again, or has had PUBREC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubt {
    /// The publisher's session.
    pub(crate) session: KeeperId,
    pub(crate) packet_id: u16,
    pub(crate) use_number: u64,
}

impl DataGroups {
    /// What is in doubt of the sessions of one data group and not known to be, each message once, in the order of their use
    /// numbers.
    pub(crate) fn doubts(&self, data_group: u16) -> Vec<Doubt> {
        let mut doubts: Vec<Doubt> = Vec::new();
        for keeper in 0..DATA_GROUPS {
            let state = self.get(keeper);
            let of_group = state.unsettled().filter(|(publisher, ..)| *publisher == data_group);
            doubts.extend(of_group.map(|(_, session, unsettled)| Doubt {
                session,
                packet_id: unsettled.packet_id,
                use_number: unsettled.use_number,
            }));
        }
        // What any group knows to be settled is so for all: one may have forgotten a message that another still remembers.
        let settled = |session| (0..DATA_GROUPS).map(|keeper| self.get(keeper).settled(data_group, session)).max();
        doubts.retain(|doubt| settled(doubt.session).is_none_or(|settled| doubt.use_number >= settled));
        let state = self.get(data_group);
        doubts.retain(|doubt| state.session_of(doubt.session).is_some_and(|kept| doubt.use_number >= kept.next_use()));
        doubts.sort_by_key(|doubt| (doubt.session.0, doubt.use_number));
        doubts.dedup_by_key(|doubt| (doubt.session.0, doubt.use_number));
        doubts
    }
}
