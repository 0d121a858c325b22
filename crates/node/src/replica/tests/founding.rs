//! A stopped node's folder becomes a member's, or stays what it was.

use std::path::Path;

use lapwing_cluster::{Boot, Features, NodeId};
use lapwing_peer::GroupNumber;
use lapwing_raft::{LogTail, Role};
use lapwing_store::StoreError;
use lapwing_store::journal::Entry;

use super::{DIR, NOW_US, body, check_engine, clients, group, open};
use crate::config::Config;
use crate::data_groups::DataGroups;
use crate::log::crash::sim::{SimDisk, changes};
use crate::log::snapshot;
use crate::replica::found::found;
use crate::replica::{Founding, Identity, ReplicaError, found_cluster, is_of_cluster, journal_group, start};
use crate::start_progress::StartProgress;

fn founding(name: &str) -> Founding {
    Founding {
        cluster_name: name.into(),
        node_name: "north".into(),
        addresses: vec!["10.0.0.1:1890".into()],
        zone: String::new(),
        release: "0.1.0".into(),
        features: Features { least: 1, most: 1 },
    }
}

/// What a node on its own has: nothing in some groups, entries in others, behind a snapshot in one of them.
fn one_node(disk: &SimDisk) -> Result<(), StoreError> {
    let (mut journal, reader) = open(disk)?;
    for (number, entries) in [(0, 3), (7, 1), (15, 12)] {
        for index in 1..=entries {
            let (group, body) = (journal_group(group(number)), body(group(number), index));
            let numbers = Entry {
                group,
                index,
                term: 0,
                raft_index: 0,
                slot: 0,
                message_id: index,
                appended_at_us: NOW_US,
                body: &body,
            };
            journal.append(numbers)?;
        }
        journal.commit()?;
    }
    let (data_groups, _) = DataGroups::recover(&reader, &StartProgress::default()).expect("entries");
    let mut draft = reader.new_snapshot(journal_group(group(15)), 12, 0)?;
    snapshot::write(data_groups.get(15).freeze(), &mut draft).expect("written");
    draft.finish()?;
    journal.purge(journal_group(group(15)), 12, 0)?;
    journal.commit()?;
    journal.close()
}

fn found_on(disk: &SimDisk, name: &str) -> Result<Identity, ReplicaError> {
    let (mut journal, reader) = open(disk)?;
    let identity = found(disk, Path::new(DIR), (&mut journal, &reader), founding(name))?;
    journal.close()?;
    Ok(identity)
}

fn check_content(data_groups: &DataGroups, context: &str) {
    for group in GroupNumber::all().filter(|group| *group != GroupNumber::METADATA) {
        let entries = match group.value() {
            0 => 3,
            7 => 1,
            15 => 12,
            _ => 0,
        };
        assert_eq!(clients(data_groups, group).len() as u64, entries, "{context}: group {group}");
        assert_eq!(data_groups.get(group.value().into()).applied(), entries, "{context}: group {group}");
    }
}

/// A member that can elect itself, and knows who it is.
fn check_member(disk: &SimDisk, context: &str) {
    let (mut journal, reader) = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
    let started = start(&mut journal, &reader).unwrap_or_else(|error| panic!("{context}: {error}"));
    check_content(&started.data_groups, context);
    for log in &started.logs {
        assert_eq!((&log.tail, log.waiting.len()), (&LogTail::founded(&[1]), 0), "{context}");
        check_engine(log, context);
        let mut engine =
            lapwing_raft::Engine::new(&lapwing_raft::Config::new(1, 42), log.tail.clone()).expect("it starts");
        engine.campaign().expect("it may");
        assert_eq!(engine.turn().status.role, Role::Leader, "{context}");
    }
    let (id, name) = started.cluster.cluster().expect("it is founded");
    let member = started.cluster.member(NodeId(1)).expect("its founder");
    let of = Identity::of(disk, Path::new(DIR), Some(id)).unwrap_or_else(|error| panic!("{context}: {error}"));
    let mut identity = of.unwrap_or_else(|| panic!("{context}: nobody knows whose folder it is"));
    assert_eq!((&*identity.cluster_name, identity.node, identity.folder), (name, NodeId(1), member.said.folder));
    assert_eq!(started.cluster.voters().collect::<Vec<_>>(), [NodeId(1)]);
    identity.next_boot(disk, Path::new(DIR)).expect("no fault");
    let again = Identity::of(disk, Path::new(DIR), Some(id)).expect("read").expect("there");
    assert_eq!((again.boot, again), (Boot(1), identity));
}

/// Is the folder one node's with all its content, which can found a cluster then, or a member's?
fn check(disk: &SimDisk, is_done: bool, context: &str) -> bool {
    let is_member = {
        let (_journal, reader) = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
        is_of_cluster(&reader).expect("a group")
    };
    assert!(is_member || !is_done, "{context}: it was founded");
    if !is_member {
        let (journal, reader) = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!(Identity::of(disk, Path::new(DIR), None).expect("read"), None, "{context}");
        let recovered = DataGroups::recover(&reader, &StartProgress::default());
        let (data_groups, _) = recovered.unwrap_or_else(|error| panic!("{context}: {error}"));
        check_content(&data_groups, context);
        drop(journal);
        found_on(disk, "again").unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    check_member(disk, context);
    is_member
}

#[test]
fn a_crash_leaves_one_nodes_folder_or_a_members() {
    let disk = SimDisk::new(1);
    one_node(&disk).expect("no fault");
    let before = disk.steps();
    found_on(&disk.copy(1), "marsh").expect("no fault");
    let count = {
        let disk = disk.copy(1);
        found_on(&disk, "marsh").expect("no fault");
        assert!(check(&disk, true, "no crash"));
        disk.steps() - before
    };
    let mut members = 0;
    for step in changes(count).chain(count - 6..count) {
        let disk = disk.copy(step + 1);
        disk.crash_after(step);
        let is_done = found_on(&disk, "marsh").is_ok();
        members += u64::from(check(&disk.copy(step).after_crash(), is_done, &format!("power cut after step {step}")));
        members += u64::from(check(&disk.after_kill(), is_done, &format!("kill after step {step}")));
    }
    assert!(members > 0 && members < 2 * (count / 3), "{members} of them: both ends are seen");
}

/// On a full disk: is it told so, and the folder left as it was?
#[test]
fn a_full_disk_founds_nothing() {
    let disk = SimDisk::new(1);
    one_node(&disk).expect("no fault");
    disk.set_capacity(0);
    let refused = found_on(&disk, "marsh").expect_err("no space");
    disk.set_capacity(u64::MAX);
    assert!(!check(&disk, false, &refused.to_string()));
}

/// In a real folder, under its lock: once, with what can be said, and not beside a broker.
#[test]
fn a_folder_founds_one_cluster() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = Config { data_dir: Some(dir.path().into()), ..Config::default() };
    let refused = found_cluster(&config, founding("no name"));
    assert!(matches!(refused, Err(ReplicaError::Said(_))), "{refused:?}");
    {
        let _log = lapwing_store::Log::open(dir.path(), &lapwing_store::LogConfig::default(), &[]).expect("nobody's");
        let refused = found_cluster(&config, founding("marsh"));
        assert!(matches!(refused, Err(ReplicaError::Store(StoreError::Locked { .. }))), "{refused:?}");
    }
    let identity = found_cluster(&config, founding("marsh")).expect("it may");
    assert_eq!((&*identity.cluster_name, identity.boot), ("marsh", Boot(0)));
    let refused = found_cluster(&config, founding("marsh"));
    assert!(matches!(refused, Err(ReplicaError::Member { .. })), "{refused:?}");
    let nowhere = found_cluster(&Config::default(), founding("marsh"));
    assert!(matches!(nowhere, Err(ReplicaError::Node(_))), "{nowhere:?}");
}
