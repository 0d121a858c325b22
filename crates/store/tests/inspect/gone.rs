//! Are segments that are all gone missed, and is what lies in the place of a file named and not waited for?

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::*;
use lapwing_store::StoreError;
use lapwing_store::inspect::{DataFolder, look_at_files};

const STREAMS: [&str; 1] = ["s"];

/// What is said from outside, as a check of the configuration does.
fn looked_at(dir: &Path) -> Result<(), StoreError> {
    DataFolder::look_at(dir)?;
    look_at_files(dir, &STREAMS.map(str::to_owned), true)
}

fn names(dir: &Path, home: &str) -> BTreeSet<PathBuf> {
    fs::read_dir(dir.join(home)).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

/// Deletes what has one of these endings.
fn delete(dir: &Path, home: &str, endings: &[&str]) {
    for path in names(dir, home) {
        if endings.iter().any(|ending| path.extension().is_some_and(|found| found == *ending)) {
            fs::remove_file(path).expect("removed");
        }
    }
}

fn pipe(at: &Path) {
    if at.exists() {
        fs::remove_file(at).expect("removed");
    }
    assert!(Command::new("mkfifo").arg(at).status().expect("mkfifo").success());
}

#[test]
fn all_segments_gone_is_no_new_folder() {
    for home in ["log", "streams/s"] {
        // Of several segments, a snapshot and a named reader, and of a first life with nothing but one segment.
        for dir in [folder(), young()] {
            delete(dir.path(), home, &["log", "kept"]);
            let before = names(dir.path(), home);
            for refused in [open(dir.path()).map(drop).err(), looked_at(dir.path()).err()] {
                let refused = refused.expect("they are missed");
                assert!(matches!(&refused, StoreError::Emptied { dir: named, .. } if *named == dir.path().join(home)));
                let told = refused.to_string();
                assert!(told.contains("restore") && told.contains("to begin without that"), "{told}");
            }
            assert_eq!(names(dir.path(), home), before, "nothing was made, and nothing taken away");
            let missed = troubles(dir.path());
            assert!(
                missed.iter().any(|(path, _, what)| path.starts_with(home) && what.contains("missing")),
                "{missed:?}"
            );
            fs::remove_dir_all(dir.path().join(home)).expect("removed");
            looked_at(dir.path()).expect("whoever removes it begins anew");
            open(dir.path()).expect("the same").close();
            assert_whole(dir.path());
        }
    }
}

#[test]
fn the_brokers_clock_tells_of_a_journal_that_is_gone_with_its_folder() {
    let dir = folder();
    fs::write(dir.path().join("clock"), "what a broker writes while it runs").expect("written");
    open(dir.path()).expect("beside its journal it says nothing").close();
    fs::remove_dir_all(dir.path().join("log")).expect("removed");
    assert!(refused(dir.path()).contains("and clock is"));
    look_at_files(dir.path(), &STREAMS.map(str::to_owned), false).expect("nobody asks for a journal");
    fs::remove_file(dir.path().join("clock")).expect("removed");
    looked_at(dir.path()).expect("whoever removes both begins anew");
    open(dir.path()).expect("the same").close();
}

/// A folder in which a broker has run for a moment.
fn young() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    open(dir.path()).expect("new").close();
    dir
}

#[test]
fn what_is_left_of_a_folder_tells_of_what_it_had() {
    let all = ["log", "kept", "idx", "meta", "tmp"];
    for (home, left) in [("log", "snapshots"), ("streams/s", "readers")] {
        let dir = folder();
        delete(dir.path(), home, &all);
        fs::remove_file(dir.path().join(home).join("meta")).expect("removed");
        match open(dir.path()).err() {
            Some(StoreError::Emptied { beside, .. }) => assert_eq!(beside, left),
            other => panic!("{home}: {other:?}"),
        }
    }
}

#[test]
fn a_start_cut_short_before_its_folder_had_a_description_is_ended() {
    for home in ["log", "streams/s"] {
        let dir = young();
        let meta = dir.path().join(home).join("meta");
        fs::rename(&meta, meta.with_extension("tmp")).expect("renamed");
        looked_at(dir.path()).expect("nothing is lost");
        assert!(troubles(dir.path()).iter().all(|(_, _, what)| what.contains("left by a crash")));
        open(dir.path()).expect("it is made whole").close();
        assert!(meta.exists() && !meta.with_extension("tmp").exists());
        // Before there was a segment, nothing was.
        fs::rename(&meta, meta.with_extension("tmp")).expect("renamed");
        delete(dir.path(), home, &["log"]);
        for beside in ["spare", "reserve", "readers"] {
            let _ = fs::remove_file(dir.path().join(home).join(beside));
        }
        let _ = fs::remove_dir_all(dir.path().join(home).join("snapshots"));
        looked_at(dir.path()).expect("it is new");
        open(dir.path()).expect("it is made").close();
        assert_whole(dir.path());
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for() {
    let dir = folder();
    let snapshot = names(dir.path(), "log/snapshots").pop_first().expect("a snapshot");
    let mut places = vec![dir.path().join("format"), dir.path().join("lock"), snapshot];
    for home in ["log", "streams/s"] {
        places.push(dir.path().join(home).join("meta"));
        places.extend([2, newest(dir.path(), home)].map(|number| dir.path().join(numbered(home, number, "log"))));
    }
    for place in places {
        let kept = place.with_extension("kept away");
        fs::rename(&place, &kept).expect("renamed");
        pipe(&place);
        let started = open(dir.path()).and_then(|opened| opened.entries.snapshot(GROUPS[0]).map(drop));
        for refused in [started.err(), looked_at(dir.path()).err()] {
            let told = refused.unwrap_or_else(|| panic!("{} was taken", place.display())).to_string();
            assert!(told.contains("it is a pipe") && told.contains(&*place.to_string_lossy()), "{told}");
            assert!(told.contains("move it away"), "{told}");
        }
        fs::rename(&kept, &place).expect("renamed");
    }
    looked_at(dir.path()).expect("whole again");
    open(dir.path()).expect("whole again").close();
    assert_whole(dir.path());
}

fn refused(dir: &Path) -> String {
    let started = open(dir).map(drop).expect_err("it cannot be used").to_string();
    assert_eq!(looked_at(dir).expect_err("the same from outside").to_string(), started);
    started
}

#[test]
fn other_kinds_are_named_too() {
    let dir = folder();
    let place = dir.path().join(numbered("log", 2, "log"));
    fs::remove_file(&place).expect("removed");
    fs::create_dir(&place).expect("made");
    let told = refused(dir.path());
    assert!(told.contains("it is a directory"), "{told}");
    fs::remove_dir(&place).expect("removed");
    let _bound = UnixListener::bind(&place).expect("bound");
    let told = refused(dir.path());
    assert!(told.contains("it is a socket"), "{told}");
}

#[test]
fn what_is_no_folder_or_no_file_is_said_to_be_that() {
    for (place, what) in [("log", "no folder: it is a file"), ("log/snapshots", "no folder"), ("streams", "no folder")]
    {
        let dir = folder();
        fs::remove_dir_all(dir.path().join(place)).expect("removed");
        fs::write(dir.path().join(place), "").expect("written");
        assert!(refused(dir.path()).contains(what), "{place}");
        let without_streams = look_at_files(dir.path(), &[], true).expect_err("a start opens it for none, too");
        assert!(without_streams.to_string().contains(what), "{place}");
    }
    let dir = folder();
    fs::create_dir(dir.path().join(numbered("log", 99, "tmp"))).expect("made");
    assert!(refused(dir.path()).contains("no file: it is a directory"));
    let dir = folder();
    fs::write(dir.path().join(numbered("log", newest(dir.path(), "log"), "log")), "").expect("cut to nothing");
    assert!(refused(dir.path()).contains("is damaged at byte 0"));
}

/// What only saves time or space is made again, whatever lies in its place.
#[test]
fn a_pipe_in_the_place_of_what_saves_time_is_passed_over() {
    let dir = folder();
    for place in ["log/spare", "log/reserve", "streams/s/readers"] {
        pipe(&dir.path().join(place));
    }
    for home in ["log", "streams/s"] {
        pipe(&dir.path().join(numbered(home, 1, "idx")));
        pipe(&dir.path().join(numbered(home, 99, "tmp")));
    }
    looked_at(dir.path()).expect("nothing is lost");
    let mut opened = open(dir.path()).expect("nothing is lost");
    opened.fill(100);
    opened.journal.make_room().expect("room is made");
    assert_eq!(opened.messages_of(0).len(), 700);
    opened.close();
    assert!(fs::metadata(dir.path().join("log/reserve")).expect("made").is_file());
}
