//! A folder of a cluster: it is looked at, dumped and mended like one of a node on its own.

use std::fs;
use std::path::Path;

use crate::common::*;
use lapwing_store::inspect::{DataFolder, RecordSource};
use lapwing_store::journal::{DataGroupId, Entry, Marker};

const META: DataGroupId = DataGroupId::METADATA;
const ENTRIES: u64 = 400;

/// Batches of two in two groups, a marker before every tenth of them, over several segments.
fn folder_of_cluster() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut opened = open(dir.path()).expect("open");
    let mut raft_index = 0;
    for number in 1..=ENTRIES / 2 {
        for group in [GROUPS[0], META] {
            if number.is_multiple_of(10) {
                let marker = Marker { group, raft_index: raft_index + 1, term: 3, body: b"who votes" };
                opened.journal.mark(marker).expect("a marker");
            }
            for index in [number * 2 - 1, number * 2] {
                let (raft_index, body) = (raft_index + 2, body(u64::from(group.0), index));
                let (slot, message_id, appended_at_us, body) = (7, index, 1, &body[..]);
                let entry = Entry { group, index, term: 3, raft_index, slot, message_id, appended_at_us, body };
                opened.journal.append(entry).expect("room");
            }
        }
        raft_index += 2;
        opened.commit();
    }
    opened.close();
    dir
}

#[test]
fn it_is_whole_and_its_markers_are_dumped() {
    let dir = folder_of_cluster();
    assert_whole(dir.path());
    let folder = DataFolder::open(os(), dir.path()).expect("a data folder");
    let records = folder.records(&RecordSource::Journal).expect("a journal").read_some(5000).expect("read");
    let markers: Vec<_> = records.iter().filter(|record| record.kind == "marker").collect();
    assert_eq!((records.len() as u64, markers.len()), (ENTRIES * 2 + 40, 40));
    assert_eq!(
        (markers[1].partition, markers[1].index, markers[1].term, &markers[1].body[..]),
        (17, 19, 3, &b"who votes"[..])
    );
}

#[test]
fn what_cannot_be_read_of_it_is_given_up_and_the_rest_is_there() {
    let dir = folder_of_cluster();
    let newest = newest(dir.path(), "log");
    assert!(newest > 3, "{newest} segments");
    for path in [numbered("log", 3, "log"), numbered("log", newest, "log")] {
        let file = dir.path().join(&path);
        let (whole, beside) = (fs::read(&file).expect("read"), fs::read(file.with_extension("idx")).ok());
        let end = whole.iter().rposition(|byte| *byte != 0).expect("records") as u64 - 80;
        let mut mended = 0;
        for at in (0..end).step_by(797) {
            flip(&file, at);
            mended += u64::from(mend(dir.path(), &path));
            fs::write(&file, &whole).expect("write");
            if let Some(beside) = &beside {
                fs::write(file.with_extension("idx"), beside).expect("write");
            }
        }
        assert!(mended > end / 797 / 2, "{mended} of {end} bytes of {}", path.display());
    }
}

/// Gives up what is damaged; false when it cannot be. Then a start, of a copy, finds every index.
fn mend(dir: &Path, path: &Path) -> bool {
    let folder = DataFolder::open(os(), dir).expect("a data folder");
    if folder.accept_loss(&*os(), &known(&folder, path), &|bytes| vec![0xEE; bytes]).is_err() {
        return false;
    }
    let copy = tempfile::tempdir().expect("a folder");
    let copied =
        lapwing_store::inspect::copy_folder(&*os(), dir, copy.path(), &mut |_, _| std::ops::ControlFlow::Continue(()));
    assert!(copied.expect("copied"));
    let opened = open(copy.path()).expect("it starts");
    for group in [GROUPS[0], META] {
        assert!(opened.entries_of(group).into_keys().eq(1..=ENTRIES), "no index is missing");
    }
    true
}
