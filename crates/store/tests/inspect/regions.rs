//! What is said of a flipped bit in every region of every kind of file, of what is missing, and of what is too short.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use crate::common::*;
use lapwing_store::inspect::{DataFolder, DumpRecord, FileKind, FolderGuard, RecordSource, Severity};
use lapwing_store::{Log, LogConfig, StoreError};

fn worst(dir: &Path, path: &Path) -> Option<Severity> {
    report(dir, path).findings.iter().map(|finding| finding.severity).max()
}

/// Flips bytes all over a file; each time, the worst that is said of it has to be this.
fn assert_said(dir: &Path, path: &Path, until: u64, step: usize, expected: Severity) {
    let file = dir.join(path);
    let whole = fs::read(&file).expect("read");
    for at in (0..until).step_by(step) {
        flip(&file, at);
        assert_eq!(worst(dir, path), Some(expected), "byte {at} of {path:?}");
        flip(&file, at);
    }
    assert_eq!(fs::read(&file).expect("read"), whole);
    assert_eq!(worst(dir, path), None, "whole again");
}

fn bytes(dir: &Path, path: &Path) -> u64 {
    fs::metadata(dir.join(path)).expect("a file").len()
}

#[test]
fn a_whole_folder_is_whole_and_stays_as_it_is() {
    let dir = folder();
    let before = fs::read(dir.path().join("lock")).expect("read");
    assert_whole(dir.path());
    let (journal, stream) = (numbered("log", 2, "log"), numbered("streams/s", 2, "log"));
    for path in [&journal, &stream] {
        let report = report(dir.path(), path);
        assert!(report.records > 100 && report.commits > 5, "{report:?}");
    }
    assert_eq!(fs::read(dir.path().join("lock")).expect("read"), before);
    open(dir.path()).expect("nothing was changed");
}

#[test]
fn every_region_of_a_segment_counts() {
    let dir = folder();
    for home in ["log", "streams/s"] {
        let sealed = numbered(home, 2, "log");
        assert_said(dir.path(), &sealed, bytes(dir.path(), &sealed), 997, Severity::Damage);
    }
}

#[test]
fn every_region_of_the_segment_being_written_counts_as_far_as_it_is_vouched_for() {
    let dir = folder();
    for home in ["log", "streams/s"] {
        let active = numbered(home, newest(dir.path(), home), "log");
        let whole = fs::read(dir.path().join(&active)).expect("read");
        let end = whole.iter().rposition(|byte| *byte != 0).expect("records") as u64;
        // The last record is the empty commit that names the end; nothing names its own.
        assert_said(dir.path(), &active, end - 80, 397, Severity::Damage);
        flip(&dir.path().join(&active), end - 20);
        assert_eq!(worst(dir.path(), &active), Some(Severity::Mends), "a torn tail");
    }
}

#[test]
fn every_region_of_the_small_files_counts_as_much_as_it_is_worth() {
    let dir = folder();
    let snapshot = PathBuf::from(format!("log/snapshots/00-{:020}.snap", 50));
    assert_said(dir.path(), &snapshot, bytes(dir.path(), &snapshot), 9_973, Severity::Damage);
    for (path, step, expected) in [
        (numbered("log", 2, "idx"), 7, Severity::Mends),
        (numbered("streams/s", 2, "idx"), 3, Severity::Mends),
        (PathBuf::from("log/meta"), 1, Severity::Damage),
        (PathBuf::from("streams/s/meta"), 1, Severity::Damage),
        (PathBuf::from("streams/s/readers"), 1, Severity::Mends),
        (PathBuf::from("format"), 1, Severity::Damage),
    ] {
        assert_said(dir.path(), &path, bytes(dir.path(), &path), step, expected);
    }
}

#[test]
fn damage_is_told_with_its_place_and_what_lies_behind_is_read_on() {
    let dir = folder();
    for home in ["log", "streams/s"] {
        let path = numbered(home, 2, "log");
        let whole = report(dir.path(), &path);
        let (first, second) = (whole.bytes / 3, whole.bytes / 2);
        for at in [first, second] {
            flip(&dir.path().join(&path), at);
        }
        let report = report(dir.path(), &path);
        let places: Vec<(u64, u64)> = report.findings.iter().map(|finding| (finding.at, finding.bytes)).collect();
        assert_eq!(places.len(), 2, "{report:?}");
        for ((from, bytes), at) in places.into_iter().zip([first, second]) {
            assert!(from <= at && at < from + bytes && bytes < 500, "{from} {bytes} {at}");
        }
        assert!(whole.records - report.records <= 2, "{} of {}", report.records, whole.records);
    }
}

#[test]
fn what_is_missing_or_cut_is_told() {
    for (path, expected) in [
        (numbered("log", 2, "log"), Severity::Damage),
        (numbered("streams/s", 2, "log"), Severity::Damage),
        (PathBuf::from("log/meta"), Severity::Damage),
        (PathBuf::from("streams/s/meta"), Severity::Damage),
        (PathBuf::from("format"), Severity::Damage),
    ] {
        let dir = folder();
        fs::remove_file(dir.path().join(&path)).expect("remove");
        assert_eq!(worst(dir.path(), &path), Some(expected), "{path:?}");
    }
    let dir = folder();
    for home in ["log", "streams/s"] {
        fs::remove_file(dir.path().join(numbered(home, 2, "idx"))).expect("remove");
        assert_eq!(worst(dir.path(), &numbered(home, 2, "log")), Some(Severity::Mends), "its index is missing");
        for sequence in [3, newest(dir.path(), home)] {
            let path = numbered(home, sequence, "log");
            let handle = OpenOptions::new().write(true).open(dir.path().join(&path)).expect("open");
            handle.set_len(bytes(dir.path(), &path) - 9).expect("cut");
            assert_eq!(worst(dir.path(), &path), Some(Severity::Damage), "{path:?} is cut");
        }
    }
}

#[test]
fn what_a_crash_leaves_is_told_and_nothing_else_is_touched() {
    let dir = folder();
    fs::write(dir.path().join("log/00000000000000000099.tmp"), b"half").expect("write");
    fs::write(dir.path().join("log/00000000000000000098.kept"), b"given up").expect("write");
    fs::write(dir.path().join("notes.txt"), b"mine").expect("write");
    let told: Vec<PathBuf> = troubles(dir.path()).into_iter().map(|trouble| trouble.0).collect();
    assert_eq!(told, [numbered("log", 99, "tmp"), numbered("log", 98, "kept")]);
    assert_eq!(report(dir.path(), Path::new("notes.txt")).kind, FileKind::Other);
    open(dir.path()).expect("the start removes them");
    assert_whole(dir.path());
}

#[test]
fn no_data_folder_and_one_in_use_are_refused() {
    let empty = tempfile::tempdir().expect("a folder");
    let none = empty.path().join("none");
    for dir in [empty.path(), none.as_path()] {
        let error = DataFolder::open(os(), dir).expect_err("nothing of ours");
        assert!(matches!(error, StoreError::NoData { .. }), "{error}");
    }
    let theirs = tempfile::tempdir().expect("a folder");
    for file in ["log/syslog", "log/1.log", "streams/films/meta", "streams/films/1.idx"] {
        let file = theirs.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, b"theirs").expect("written");
    }
    let file = theirs.path().join("log/syslog");
    for dir in [theirs.path(), file.as_path()] {
        assert!(FolderGuard::shared(dir).is_ok(), "nobody holds it");
        for refused in [DataFolder::open(os(), dir).map(drop), DataFolder::find(dir)] {
            assert!(matches!(refused, Err(StoreError::NoData { .. })), "{refused:?}");
        }
    }
    let dir = folder();
    let running = Log::open(dir.path(), &LogConfig::default(), &[]).expect("open");
    assert!(matches!(FolderGuard::shared(dir.path()), Err(StoreError::Locked { pid: Some(_), .. })));
    drop(running);
    let _looking = FolderGuard::shared(dir.path()).expect("nobody writes");
    assert!(FolderGuard::exclusive(dir.path()).is_err());
}

fn dumped(folder: &DataFolder, source: &RecordSource) -> Vec<DumpRecord> {
    let mut records = folder.records(source).expect("there is one");
    let mut all = vec![];
    loop {
        let some = records.read_some(50).expect("read");
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

/// Are the other segments dumped where the opening of the newest, which says what they are, cannot be read; and does the line
/// that says so recommend nothing that is then refused?
#[test]
fn a_damaged_opening_of_the_newest_segment_hides_no_other() {
    for home in ["log", "streams/s"] {
        let dir = folder();
        let source = if home == "log" { RecordSource::Journal } else { RecordSource::Stream("s".into()) };
        let records = || dumped(&DataFolder::open(os(), dir.path()).expect("a data folder"), &source);
        let path = numbered(home, newest(dir.path(), home), "log");
        let expected: Vec<_> =
            records().into_iter().filter(|record| record.segment != path).map(|record| record.index).collect();
        flip(&dir.path().join(&path), 20);
        let mut found = records();
        let damage = found.pop().expect("a record");
        assert_eq!((&damage.segment, damage.kind), (&path, "damage"));
        let what = String::from_utf8_lossy(&damage.body);
        assert!(what.contains("restore a backup") && !what.contains("accept-loss-of"), "{what}");
        assert!(found.iter().map(|record| record.index).eq(expected), "{home}");
    }
}

#[test]
fn all_records_are_dumped_in_order_and_damage_between_them() {
    let dir = folder();
    flip(&dir.path().join(numbered("log", 2, "log")), 30_000);
    let folder = DataFolder::open(os(), dir.path()).expect("a data folder");
    let all = |source: &RecordSource| dumped(&folder, source);
    let journal = all(&RecordSource::Journal);
    assert_eq!(journal.iter().filter(|record| record.kind == "damage").count(), 1);
    let indexes: Vec<u64> = journal.iter().filter(|r| r.kind == "data" && r.partition == 15).map(|r| r.index).collect();
    assert!(indexes.is_sorted() && indexes.len() >= 599, "{}", indexes.len());
    assert!(journal.iter().filter(|r| r.kind == "data").all(|r| r.body == body(u64::from(r.partition), r.index)));
    let stream = all(&RecordSource::Stream("s".into()));
    let offsets: Vec<u64> = stream.iter().filter(|r| r.partition == 1).map(|r| r.index).collect();
    assert_eq!(offsets, (0..600).collect::<Vec<_>>());
    assert!(matches!(folder.records(&RecordSource::Stream("x".into())), Err(StoreError::NoStream { .. })));
}
