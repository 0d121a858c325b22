//! What a data group refers to and the log does not have: only where a loss was accepted.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lapwing_ledger::{Changed, Cleared, DataGroupState, Entry, Fact, KeeperId, List, ProgressBuf};
use lapwing_store::StoreError;
use lapwing_store::journal::{self, DataGroupId, JournalReader, JournalWriter};
use serde_json::{Value, json};

use crate::log::now_us;

/// References of one data group.
pub(super) struct Dangling {
    data_group: u16,
    /// Sessions and durable consumer groups, with the messages that wait for them.
    queues: Vec<Queue>,
    /// Topics of retained messages.
    retained: Vec<String>,
    /// Sessions whose wills are not there.
    wills: Vec<(KeeperId, String)>,
}

struct Queue {
    id: KeeperId,
    /// The client id, or name and filter.
    name: String,
    is_session: bool,
    entries: Vec<u64>,
}

/// Facts and topics that go into one entry.
const IN_ONE_ENTRY: usize = 10_000;

impl Dangling {
    /// Compares what a group's state refers to with what the log has.
    ///
    /// # Errors
    /// Those of the log.
    pub(super) fn find(reader: &JournalReader, state: &DataGroupState, data_group: u16) -> Result<Self, StoreError> {
        let there = There::read(reader, state, data_group)?;
        let lacking = |entries: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
            entries.filter(|entry| !there.messages.contains(entry)).collect()
        };
        let of_sessions = state.sessions().map(|session| Queue {
            id: session.id(),
            name: session.client_id().to_owned(),
            is_session: true,
            entries: lacking(&mut session.queue().map(|(entry, _)| entry)),
        });
        let of_groups = state.groups().map(|group| Queue {
            id: group.id(),
            name: format!("{} {}", group.name(), group.filter()),
            is_session: false,
            entries: lacking(&mut group.queue()),
        });
        let queues = of_sessions.chain(of_groups).filter(|queue| !queue.entries.is_empty()).collect();
        let retained = state.retained().filter(|(_, entry)| !there.messages.contains(entry));
        let retained = retained.map(|(topic, _)| topic.to_owned()).collect();
        let with_will = state.sessions().filter_map(|session| Some((session, session.will()?.entry)));
        let wills = with_will.filter(|(_, entry)| !there.wills.contains(entry));
        let wills = wills.map(|(session, _)| (session.id(), session.client_id().to_owned())).collect();
        Ok(Self { data_group, queues, retained, wills })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.retained.is_empty() && self.wills.is_empty()
    }

    /// Each as an object: who loses what.
    pub(super) fn told(&self) -> Vec<Value> {
        let data_group = self.data_group;
        let queue = |queue: &Queue| {
            let whose = if queue.is_session { "client_id" } else { "consumer_group" };
            json!({"event": "dropped", "group": data_group, whose: queue.name, "messages": queue.entries.len()})
        };
        let queues = self.queues.iter().map(queue);
        let retained =
            self.retained.iter().map(|topic| json!({"event": "dropped", "group": data_group, "retained": topic}));
        let wills =
            self.wills.iter().map(|(_, name)| json!({"event": "dropped", "group": data_group, "will_of": name}));
        queues.chain(retained).chain(wills).collect()
    }

    /// Appends to the log that they are no more: a start finds nothing that is not there.
    ///
    /// # Errors
    /// Those of the log.
    pub(super) fn settle(&self, writer: &mut JournalWriter, reader: &JournalReader) -> Result<(), StoreError> {
        let mut append = |entry: Entry<'_>| -> Result<(), StoreError> {
            let mut body = vec![];
            let encoded = entry.encode(&mut body);
            debug_assert!(encoded.is_ok(), "names came from entries");
            let group = DataGroupId(self.data_group);
            let (index, term) = (writer.next_index(group)?, reader.group(group)?.last_term);
            let (raft_index, slot, message_id, appended_at_us, body) = (0, 0, 0, now_us(), &body[..]);
            writer.append(journal::Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body })?;
            writer.commit().map(drop)
        };
        for queue in &self.queues {
            for entries in queue.entries.chunks(IN_ONE_ENTRY) {
                let mut facts = ProgressBuf::new();
                entries.iter().for_each(|entry| facts.push(queue.id, Fact::Finished { entry: *entry }));
                append(Entry::Progress(facts.as_progress()))?;
            }
        }
        for topics in self.retained.chunks(IN_ONE_ENTRY) {
            let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
            append(Entry::Cleared(Cleared { topics: List::from_slice(&topics) }))?;
        }
        for (session, _) in &self.wills {
            append(Entry::Changed(Changed { will: Some(None), ..Changed::of(*session) }))?;
        }
        Ok(())
    }
}

/// What the log has of that to which a state refers.
struct There {
    messages: BTreeSet<u64>,
    wills: BTreeSet<u64>,
}

impl There {
    fn read(reader: &JournalReader, state: &DataGroupState, data_group: u16) -> Result<Self, StoreError> {
        let queued = state.sessions().flat_map(|session| session.queue().map(|(entry, _)| entry).collect::<Vec<_>>());
        let in_groups = state.groups().flat_map(|group| group.queue().collect::<Vec<_>>());
        let wills = state.sessions().filter_map(|session| session.will().map(|will| will.entry));
        let retained = state.retained().map(|(_, entry)| entry);
        let wanted: BTreeSet<u64> = queued.chain(in_groups).chain(wills).chain(retained).collect();
        let wanted: Vec<u64> = wanted.into_iter().collect();
        let mut there = Self { messages: BTreeSet::new(), wills: BTreeSet::new() };
        reader.get_many(DataGroupId(data_group), &wanted, &mut |entry| {
            match Entry::decode(entry.body) {
                Ok(Entry::Published(_)) => drop(there.messages.insert(entry.index)),
                Ok(other) if other.will().is_some() => drop(there.wills.insert(entry.index)),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(there)
    }
}
