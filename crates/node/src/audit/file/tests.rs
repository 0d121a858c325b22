//! What becomes of a trail over starts, rotations, failures and what others do to its files.

use serde_json::{Value, json};

use super::*;
use crate::audit::{AuditEvent, look};

const BYTES: u64 = 2_000;

fn open(path: &Path) -> Found {
    TrailFile::open(path, true, BYTES, 3).unwrap()
}

fn write(found: &mut Found, count: usize) {
    for _ in 0..count {
        let line = found.chain.seal(AuditEvent::now("connected", json!({"client_id": "c"})));
        found.file.append(line.as_bytes()).unwrap();
    }
}

fn numbers(path: &Path) -> Vec<u64> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap()).collect()
}

/// Does a trail go on where it was, over starts, and is half a line that a crash left cut off?
#[test]
fn it_goes_on_over_starts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = open(&path);
    write(&mut found, 2);
    let chain = found.chain.clone();
    drop(found);
    fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"seq\":3,\"at").unwrap();
    let mut found = open(&path);
    assert_eq!((found.cut_bytes, &found.chain), (12, &chain));
    write(&mut found, 1);
    assert_eq!(numbers(&path), [1, 2, 3]);
}

/// Are the files bounded in size and number, the newest there, and the chain one over all of them?
#[test]
fn files_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = open(&path);
    write(&mut found, 40);
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]);
    let mut all = vec![];
    for name in ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"] {
        let path = dir.path().join(name);
        let meta = fs::metadata(&path).unwrap();
        assert!(meta.len() <= BYTES && meta.permissions().mode() & 0o777 == MODE, "{name}: {meta:?}");
        all.extend(numbers(&path));
    }
    assert_eq!(all, (41 - all.len() as u64..=40).collect::<Vec<_>>());
    // A crash just behind the renaming: the next one goes on behind the older file.
    let chain = found.chain.clone();
    drop(found);
    fs::rename(&path, dir.path().join("audit.jsonl.1")).unwrap();
    assert_eq!(open(&path).chain, chain);
}

/// Does beginning a new file move nothing a second time where the first try failed in the midst of it?
#[test]
fn what_was_moved_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = open(&path);
    write(&mut found, 40);
    let text = |number: u32| fs::read_to_string(found.file.older(number)).unwrap();
    let (first, second) = (text(1), text(2));
    fs::rename(&path, dir.path().join("elsewhere")).unwrap();
    found.file.rotate().unwrap();
    let text = |number: u32| fs::read_to_string(found.file.older(number)).unwrap();
    assert_eq!((text(1), text(2)), (first.clone(), second));
    fs::remove_file(found.file.older(2)).unwrap();
    found.file.rotate().unwrap();
    assert_eq!(fs::read_to_string(found.file.older(2)).unwrap(), first, "a free place is filled");
}

/// Is a file that is no trail, named by mistake, as it was when it is refused: its bytes, and who may read it?
#[test]
fn what_is_no_trail_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other");
    let blob: Vec<u8> = (0..200_000_u32).map(|n| if n % 256 == 10 { 0 } else { (n % 256) as u8 }).collect();
    for bytes in [b"line one\nline two without an end".as_slice(), b"no line", &blob] {
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let refused = TrailFile::open(&path, true, BYTES, 3).err();
        assert_eq!(refused, look(&path, true).err().map(|(why, _)| why));
        assert!(refused.is_some());
        assert!(fs::read(&path).unwrap() == bytes, "{} bytes", bytes.len());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    }
}

/// Does half of the first line of a new file, which a crash has left, end no trail?
#[test]
fn half_a_first_line_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = open(&path);
    write(&mut found, 2);
    let chain = found.chain.clone();
    drop(found);
    fs::rename(&path, older(&path, 1)).unwrap();
    fs::write(&path, "{\"seq\":3,\"at").unwrap();
    let found = open(&path);
    assert_eq!((found.cut_bytes, found.chain), (12, chain));
}

/// Are lines written once more that a sync may have lost as it failed, before the next one is believed?
#[test]
fn what_a_failed_sync_may_have_lost_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = open(&path);
    write(&mut found, 1);
    found.file.sync().unwrap();
    let synced = found.file.len;
    write(&mut found, 2);
    let text = fs::read_to_string(&path).unwrap();
    found.file.sync_by(|_| Err(io::Error::other("broken"))).unwrap_err();
    // What the system did not write it takes for written all the same, and may drop.
    found.file.file.write_all_at(&vec![0; text.len() - synced as usize], synced).unwrap();
    found.file.sync().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(found.file.unsynced_bytes(), 0);
}

/// Are files removed for which there is no number any more, since there are to be fewer?
#[test]
fn fewer_files_than_there_were() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = TrailFile::open(&path, true, BYTES, 6).unwrap();
    write(&mut found, 80);
    drop(found);
    assert!(older(&path, 5).exists());
    let kept = older(&path, 1_000);
    fs::write(&kept, "somebody's").unwrap();
    let mut found = open(&path);
    write(&mut found, 20);
    let there: Vec<u32> = (1..10).filter(|number| older(&path, *number).exists()).collect();
    assert_eq!(there, [1, 2]);
    assert!(kept.exists());
}

/// Is a file refused that another writes, that is a link or no file, and one whose end was changed? Is one that all might
/// read its owner's from then on?
#[test]
fn what_cannot_be_trusted_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let mut found = open(&path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
    write(&mut found, 1);
    let refused = |path: &Path| {
        let looked = look(path, true).err().unwrap().0;
        assert_eq!(Some(&looked), TrailFile::open(path, true, BYTES, 3).err().as_ref());
        looked
    };
    assert_eq!(refused(&path), "another broker writes it");
    assert!(look(&path, true).is_err_and(|(_, is_taken)| is_taken));
    drop(found);
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(refused(&link).contains("symbolic link"));
    assert!(look(dir.path(), true).is_err_and(|(_, is_taken)| !is_taken));
    assert_eq!(look(&dir.path().join("new"), true), Ok(()));
    assert!(!dir.path().join("new").exists());
    refused(dir.path());
    // A crash between two files, and then something else in the place of the older one.
    let begun = dir.path().join("begun.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(older(&begun, 1)).status().unwrap().success());
    fs::write(&begun, "").unwrap();
    let told = refused(&begun);
    assert!(told.contains("begun.jsonl.1: it is no file: it is a pipe"), "{told}");
    let text = fs::read_to_string(&path).unwrap().replace("\"c\"", "\"d\"");
    fs::write(&path, text).unwrap();
    assert!(refused(&path).contains("it was changed"));
}

/// Is a trail that was moved, removed, or has another file in its place known, and does it go on where it should lie, in a
/// new file with the next number; and is a file that somebody has laid there left as it is?
#[test]
fn what_was_moved_away_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let (path, aside) = (dir.path().join("audit.jsonl"), dir.path().join("aside"));
    let mut found = open(&path);
    write(&mut found, 2);
    found.file.check_place().unwrap();
    fs::rename(&path, &aside).unwrap();
    assert!(found.file.check_place().unwrap_err().to_string().contains("audit.jsonl was moved or removed"));
    fs::write(&path, "somebody's").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let told = [found.file.check_place(), found.file.back_to_place()].map(|told| told.unwrap_err().to_string());
    assert!(told.iter().all(|told| told.contains("another file lies")), "{told:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    fs::remove_file(&path).unwrap();
    found.file.back_to_place().unwrap();
    found.file.check_place().unwrap();
    write(&mut found, 1);
    assert_eq!((numbers(&aside), numbers(&path)), (vec![1, 2], vec![3]));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
    fs::remove_file(&path).unwrap();
    found.file.check_place().unwrap_err();
    fs::rename(&aside, &path).unwrap();
    found.file.back_to_place().unwrap_err();
}

/// Is a file that it begins itself, because the old one was full, in its place?
#[test]
fn its_own_rotation_moves_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let mut found = open(&path);
    for _ in 0..40 {
        write(&mut found, 1);
        found.file.check_place().unwrap();
    }
    assert!(older(&path, 2).exists());
}
