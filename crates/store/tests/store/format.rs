//! Logs that earlier versions wrote are read as they were written.
//!
//! `tests/fixtures/format-1` holds what `write_fixture` appended when format version 1 was new. It is never made again:
//! a new format version gets a folder of its own, and this test goes on reading the old one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;
use lapwing_store::{Log, LogConfig, LogReader, LogWriter};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1")
}

fn open(dir: &Path) -> (LogWriter, LogReader) {
    Log::open(dir, &LogConfig::default(), &[small("readings", 2)]).expect("open")
}

/// A copy: opening writes.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => assert!(fs::copy(&path, &target).is_ok()),
        }
    }
}

#[test]
fn format_1_is_read_as_it_was_written() {
    let dir = tempfile::tempdir().expect("a folder");
    copy(&fixture(), dir.path());
    let (mut writer, reader) = open(dir.path());
    for partition in 0..2 {
        let expected: Vec<_> = (0..300).map(|number| body(partition, number)).collect();
        assert_eq!(read_all(&reader, partition), expected);
    }
    let info = reader.stream("readings").expect("the stream");
    assert_eq!(info.uuid.to_string(), fs::read_to_string(dir.path().join("uuid")).expect("the note").trim());
    assert_eq!((info.segments, info.readers.len()), (3, 1));
    assert_eq!((info.readers[0].name.as_str(), &info.readers[0].positions[..]), ("spark", &[(1, 17)][..]));
    assert!(reader.take_notices().is_empty(), "nothing had to be repaired");
    assert_eq!(append(&mut writer, 0, b"and it goes on"), 300);
    writer.commit().expect("commit");
}

#[test]
#[ignore = "writes the fixture; once per format version"]
fn write_fixture() {
    let dir = fixture();
    assert!(!dir.exists(), "a fixture is never made again");
    let (mut writer, reader) = open(&dir);
    for number in 0..300 {
        append(&mut writer, 0, &body(0, number));
        append(&mut writer, 1, &body(1, number));
        if number % 30 == 29 {
            writer.commit().expect("commit");
        }
    }
    let each = &mut |_: lapwing_store::RecordView<'_>| std::ops::ControlFlow::Continue(());
    reader.read(FIRST, 1, 17, EVERYTHING, Some("spark"), each).expect("read");
    let uuid = reader.streams()[0].uuid.to_string();
    writer.close().expect("close");
    fs::write(dir.join("uuid"), uuid + "\n").expect("write");
    fs::remove_file(dir.join("lock")).expect("remove");
}
