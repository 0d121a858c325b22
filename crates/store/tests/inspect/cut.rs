//! Sealed segments that were cut off midway: what lay before the cut is there, what lay behind it is lost and told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;
use lapwing_store::inspect::{DataFolder, Loss, Severity};
use lapwing_store::journal::DataGroupId;

/// The folder, with one entry in three of the older ones in a segment of kept entries; and where that lies.
fn kept_folder() -> (tempfile::TempDir, PathBuf) {
    let dir = folder();
    let mut opened = open(dir.path()).expect("open");
    for group in GROUPS {
        opened.journal.purge(group, 500, 0).expect("purge");
    }
    opened.commit();
    let is_kept = &mut |_: DataGroupId, index: u64| index.is_multiple_of(3);
    while !opened.journal.compact(is_kept, 1 << 20).expect("compact").round_over {}
    opened.close();
    let names = fs::read_dir(dir.path().join("log")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let kept = names.filter(|path| path.extension().is_some_and(|end| end == "kept")).min().expect("kept entries");
    let path = Path::new("log").join(kept.file_name().expect("a name"));
    (dir, path)
}

fn entries(dir: &Path) -> Vec<BTreeMap<u64, Vec<u8>>> {
    let opened = open(dir).expect("it starts");
    GROUPS.iter().map(|group| opened.entries_of(*group)).collect()
}

fn accept(dir: &Path, path: &Path) -> Loss {
    let folder = DataFolder::open(os(), dir).expect("a data folder");
    let loss = folder.accept_loss(&*os(), &known(&folder, path), &|bytes| vec![0xEE; bytes]);
    loss.expect("it can be done").expect("a loss")
}

fn cut(file: &Path, bytes: u64) {
    fs::OpenOptions::new().write(true).open(file).expect("open").set_len(bytes).expect("cut");
}

/// Where the opening of a segment of these groups ends, and some more.
const OPENING_BYTES: u64 = 2_000;

#[test]
fn kept_entries_before_the_cut_are_there() {
    let (probe, path) = kept_folder();
    let bytes = fs::metadata(probe.path().join(&path)).expect("a file").len();
    let before = entries(probe.path());
    for (number, at) in (OPENING_BYTES..bytes).step_by(3_001).chain([bytes - 9, bytes - 1]).enumerate() {
        let (dir, path) = kept_folder();
        let has_index = number % 2 == 0;
        cut(&dir.path().join(&path), at);
        if !has_index {
            fs::remove_file(dir.path().join(&path).with_extension("idx")).expect("remove");
        }
        let loss = accept(dir.path(), &path);
        assert_eq!(loss.is_open_ended, !has_index, "cut at {at}: {loss:?}");
        let after = entries(dir.path());
        for ((group, before), after) in GROUPS.iter().zip(&before).zip(&after) {
            assert!(after.iter().all(|(index, body)| before[index] == *body), "cut at {at}");
            let missing: BTreeSet<u64> = before.keys().filter(|index| !after.contains_key(index)).copied().collect();
            let of_group = loss.ranges.iter().filter(|range| range.partition == u32::from(group.0));
            let told: BTreeSet<u64> = of_group.flat_map(|range| range.first..=range.last).collect();
            assert!(!has_index || told == missing, "cut at {at}: {told:?} are told and {missing:?} are missing");
        }
        let lost: usize = before.iter().zip(&after).map(|(before, after)| before.len() - after.len()).sum();
        assert!(lost as u64 <= (bytes - at) / 64 + 1, "cut at {at}: {lost} are lost");
        let damaged = troubles(dir.path()).into_iter().filter(|trouble| trouble.1 == Severity::Damage);
        assert_eq!(damaged.count(), 0, "cut at {at}");
    }
}

#[test]
fn a_sealed_segment_as_it_came_keeps_what_lay_before_the_cut() {
    for at in [OPENING_BYTES, 20_001, 40_000, 60_000] {
        let dir = folder();
        let before = entries(dir.path());
        let path = numbered("log", 2, "log");
        cut(&dir.path().join(&path), at);
        let loss = accept(dir.path(), &path);
        let lost = |partition: u32, index: u64| {
            let mut of_group = loss.ranges.iter().filter(|range| range.partition == partition);
            of_group.any(|range| (range.first..=range.last).contains(&index))
        };
        for ((group, before), after) in GROUPS.iter().zip(&before).zip(entries(dir.path())) {
            assert!(before.keys().eq(after.keys()), "cut at {at}: no index is missing");
            for (index, body) in &after {
                assert_eq!(lost(u32::from(group.0), *index), *body != before[index], "cut at {at}: entry {index}");
            }
        }
    }
}
