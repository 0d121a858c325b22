//! Folders of earlier days, in memory: what is spoiled.

use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lapwing_store::disk::{Access, Disk, OsDisk, Overlay};

pub const HEADER_BYTES: usize = 64;
const MAGIC: &[u8] = b"LwR1";

/// A file of a folder.
#[derive(Clone, Debug)]
pub struct File {
    /// From the folder on.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// Where records began before anything was spoiled, and the salt of each.
    pub records: Vec<(usize, u32)>,
}

/// A stream, a journal, one with what compaction has kept and a snapshot, and one of a cluster.
pub fn fixtures() -> &'static [Vec<File>; 4] {
    static FIXTURES: OnceLock<[Vec<File>; 4]> = OnceLock::new();
    FIXTURES.get_or_init(|| ["format-1", "journal-1", "journal-1-kept", "journal-1-raft"].map(load))
}

fn load(name: &str) -> Vec<File> {
    // The room's own, also where a fuzz target compiles this file.
    let rooms = ["tests/fixtures", "../crates/store/tests/fixtures"];
    let mut roots = rooms.iter().map(|room| Path::new(env!("CARGO_MANIFEST_DIR")).join(room).join(name));
    let root = roots.find(|root| root.is_dir()).expect("folders of the repository");
    let (mut paths, mut folders) = (vec![], vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    let contents = |path: &PathBuf| std::fs::read(path).expect("a file of the repository");
    let files: Vec<_> =
        paths.iter().map(|path| (path.strip_prefix(&root).expect("below it"), contents(path))).collect();
    let salts: Vec<u32> = [0].into_iter().chain(files.iter().filter_map(|(_, bytes)| salt_of(bytes))).collect();
    let file = |(path, bytes): (&Path, Vec<u8>)| {
        let records = records(&bytes, &salts);
        File { path: path.to_path_buf(), bytes, records }
    };
    files.into_iter().map(file).collect()
}

/// The salt that a segment's opening record brings.
fn salt_of(bytes: &[u8]) -> Option<u32> {
    let is_segment = bytes.starts_with(MAGIC) && bytes.get(13) == Some(&3);
    is_segment.then(|| u32_at(bytes, HEADER_BYTES + 48)).flatten()
}

fn records(bytes: &[u8], salts: &[u32]) -> Vec<(usize, u32)> {
    let mut found = vec![];
    let mut at = 0;
    while bytes.get(at..).is_some_and(|rest| rest.starts_with(MAGIC)) {
        let salt = salts.iter().find(|salt| checksum(bytes, at, **salt) == u32_at(bytes, at + 4));
        found.extend(salt.map(|salt| (at, *salt)));
        let end = (at + HEADER_BYTES).checked_add(u32_at(bytes, at + 8).unwrap_or_default() as usize);
        let Some(next) = end.and_then(|end| end.checked_next_multiple_of(8)) else { break };
        at = next;
    }
    found
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// What the checksum of the record at `at` should be; nothing where it is not whole.
fn checksum(bytes: &[u8], at: usize, salt: u32) -> Option<u32> {
    let end = (at + HEADER_BYTES).checked_add(u32_at(bytes, at + 8)? as usize)?;
    bytes.get(at + 8..end).map(|covered| crc32c::crc32c_append(salt, covered))
}

impl File {
    /// Gives each record the checksum that fits what it says now.
    pub fn seal(&mut self) {
        for (at, salt) in &self.records {
            if let Some(checksum) = checksum(&self.bytes, *at, *salt) {
                self.bytes[at + 4..at + 8].copy_from_slice(&checksum.to_le_bytes());
            }
        }
    }
}

/// The files on a disk of their own, under `dir`, which exists nowhere else.
pub fn disk(files: &[File], dir: &Path) -> Arc<dyn Disk> {
    let disk = Overlay::new(Arc::new(OsDisk));
    for folder in ["", "log", "log/snapshots", "streams", "streams/readings"] {
        disk.create_dir(&dir.join(folder)).expect("in memory");
    }
    for file in files {
        let handle = disk.open(&dir.join(&file.path), Access::Create).expect("in memory");
        handle.write_at(&[IoSlice::new(&file.bytes)], 0).expect("in memory");
    }
    Arc::new(disk)
}
