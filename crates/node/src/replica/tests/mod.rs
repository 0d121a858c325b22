//! The way to the journal and back, on a disk that fills up, and that loses in a crash what was not synced.

use std::path::Path;
use std::sync::Arc;

use lapwing_ledger::Opened;
use lapwing_peer::{Batch, GroupNumber, List, Record};
use lapwing_raft::{Config, Engine};
use lapwing_replica::{Body, LogEntry};
use lapwing_store::StoreError;
use lapwing_store::journal::{Journal, JournalConfig, JournalReader, JournalWriter};

use super::StartedLog;
use crate::data_groups::DataGroups;
use crate::log::crash::sim::SimDisk;

mod faults;
mod founding;
mod full;
mod install;
mod model;
mod random_writes;

const DIR: &str = "/data";
const NOW_US: i64 = 1_700_000_000_000_000;
/// A commit has to come in the midst of many a write.
const PENDING_BYTES: usize = 4 << 10;

fn open(disk: &SimDisk) -> Result<(JournalWriter, JournalReader), StoreError> {
    let (segment_bytes, pending_bytes_max) = (64 << 10, PENDING_BYTES);
    let config = JournalConfig { segment_bytes, pending_bytes_max, ..JournalConfig::default() };
    Journal::open_on(Arc::new(disk.clone()), Path::new(DIR), &config)
}

fn group(number: u8) -> GroupNumber {
    GroupNumber::new(number).expect("there is one")
}

/// A session is opened for the client `client`; of the metadata group, something that is refused.
fn body(group: GroupNumber, client: u64) -> Vec<u8> {
    if group == GroupNumber::METADATA {
        return lapwing_cluster::Entry::LevelRaised { level: client as u32 }.encode();
    }
    let (client_id, mut body) = (client_id(client), vec![]);
    let opened = Opened { client_id: &client_id, identity: b"", expiry_s: 60, opened_at_ms: 1, will: None };
    lapwing_ledger::Entry::Opened(opened).encode(&mut body).expect("within the bounds");
    body
}

/// Of different lengths.
fn client_id(client: u64) -> String {
    format!("client-{client:06}-{}", "x".repeat((client % 7 * 40) as usize))
}

/// A batch that opens sessions for these clients.
fn batch(group: GroupNumber, first_sequence: u64, clients: impl IntoIterator<Item = u64>) -> Body {
    let bodies: Vec<(u64, Vec<u8>)> = clients.into_iter().map(|client| (client, body(group, client))).collect();
    let record = |(client, body): &'_ (u64, Vec<u8>)| (*client % 4096, *client, body.clone());
    let records: Vec<(u64, u64, Vec<u8>)> = bodies.iter().map(record).collect();
    let records: Vec<Record<'_>> = records
        .iter()
        .map(|(slot, id, body)| Record { slot: *slot as u16, message_id: *id, appended_at_us: NOW_US, body })
        .collect();
    Body::Batch(Arc::new(Batch::of(first_sequence, &List::from_slice(&records)).expect("a batch")))
}

fn entry(raft_index: u64, term: u64, body: Body) -> LogEntry {
    LogEntry { raft_index, term, body }
}

/// The client ids of a group's sessions, in order.
fn clients(data_groups: &DataGroups, group: GroupNumber) -> Vec<String> {
    data_groups.get(u16::from(group.value())).sessions().map(|kept| kept.client_id().to_owned()).collect()
}

/// An engine starts from it.
fn check_engine(log: &StartedLog, context: &str) {
    let engine = Engine::new(&Config::new(1, 42), log.tail.clone());
    assert!(engine.is_ok(), "{context}: group {}: {:?}", log.group, engine.err());
}
