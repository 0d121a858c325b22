//! What is said of a file.

use std::path::PathBuf;

use crate::error::StoreError;

/// What a file is, by its place and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Names the format of the folder.
    Format,
    /// Held by the broker that runs.
    Lock,
    /// Says that messages carry their publishers, and names the folder's sessions; the broker's own.
    Stamps,
    /// Says how the broker's clock stands to the wall clock; the broker's own.
    Clock,
    /// Says what a stream, or the journal, was made as.
    Meta,
    /// Positions of a stream's named readers.
    Readers,
    /// A segment.
    Segment,
    /// A segment of entries that compaction has kept.
    Kept,
    /// The index of a sealed segment.
    Index,
    /// The state of a data group.
    Snapshot,
    /// A snapshot that came from another node, without its name yet.
    Received,
    /// Space for the next segment.
    Spare,
    /// What a crash has left of a file in the making.
    Draft,
    /// Nothing of ours.
    Other,
}

impl FileKind {
    /// The name of the kind, for people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            FileKind::Format => "format",
            FileKind::Lock => "lock",
            FileKind::Stamps => "stamps",
            FileKind::Clock => "clock",
            FileKind::Meta => "meta",
            FileKind::Readers => "readers",
            FileKind::Segment => "segment",
            FileKind::Kept => "kept",
            FileKind::Index => "index",
            FileKind::Snapshot => "snapshot",
            FileKind::Received => "received",
            FileKind::Spare => "spare",
            FileKind::Draft => "draft",
            FileKind::Other => "other",
        }
    }
}

/// Where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In the data folder itself.
    Root,
    /// In `log/`.
    Journal,
    /// In the folder of this stream, by its place in [`DataFolder::streams`](super::DataFolder::streams).
    Stream(usize),
}

/// A file of the data folder, or one that should be there.
#[derive(Debug, Clone)]
pub struct KnownFile {
    /// From the data folder on.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Its length; 0 for one that is missing.
    pub bytes: u64,
    /// Where it lies.
    pub home: Home,
    /// The number in the name of a segment or index; the index that a snapshot covers.
    pub number: u64,
    /// The data group of a snapshot.
    pub group: u16,
    /// It should be there, and is not.
    pub is_missing: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing, nothing to do.
    Note,
    /// Nothing that was acknowledged is missing: the next start, or a repair, puts it right.
    Mends,
    /// Something that was kept cannot be read.
    Damage,
}

impl Severity {
    /// For people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Mends => "mends",
            Severity::Damage => "damage",
        }
    }
}

/// One thing that was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The byte at which it begins.
    pub at: u64,
    /// How many bytes it takes up; 0: not known.
    pub bytes: u64,
    /// In words.
    pub what: String,
}

impl Finding {
    pub(crate) fn note(what: impl Into<String>) -> Self {
        Self { severity: Severity::Note, at: 0, bytes: 0, what: what.into() }
    }

    pub(crate) fn mends(at: u64, bytes: u64, what: impl Into<String>) -> Self {
        Self { severity: Severity::Mends, at, bytes, what: what.into() }
    }

    pub(crate) fn damage(at: u64, bytes: u64, what: impl Into<String>) -> Self {
        Self { severity: Severity::Damage, at, bytes, what: what.into() }
    }

    /// What kept somebody from reading on: damage, or a disk that cannot be read.
    pub(crate) fn of(error: &StoreError) -> Self {
        match error {
            StoreError::Corrupt { at, what, .. } => Self::damage(*at, 0, what.clone()),
            StoreError::WrongKind { found, .. } => Self::damage(0, 0, found.to_string()),
            StoreError::Io { operation, source, .. } => Self::damage(0, 0, format!("cannot {operation} it: {source}")),
            other => Self::damage(0, 0, other.to_string()),
        }
    }
}

/// What was found in one file.
#[derive(Debug, Clone)]
pub struct FileReport {
    /// From the data folder on.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Its length.
    pub bytes: u64,
    /// Messages or entries in it that can be read.
    pub records: u64,
    /// Whole commits in it.
    pub commits: u64,
    /// What is to be said; empty: it is whole.
    pub findings: Vec<Finding>,
}

impl FileReport {
    pub(crate) fn of(file: &KnownFile) -> Self {
        Self { path: file.path.clone(), kind: file.kind, bytes: file.bytes, records: 0, commits: 0, findings: vec![] }
    }

    pub(crate) fn with(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self
    }

    /// Something that was kept cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Damage)
    }
}
