//! What can go wrong with a node as a whole. A peer's fault is never one of these: it closes that one connection.

use lapwing_ledger::Fault;
use lapwing_store::StoreError;
use lapwing_transport::BindError;

use crate::life::Failure;

/// A node could not be started, or has failed while it ran.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The configuration is wrong; the caller's fault.
    #[error("configuration key {key}: {what}")]
    Config {
        /// Path of the key, with dots.
        key: String,
        /// The value and what is wrong with it.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A listener could not be opened.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Several listeners could not read their certificates again; all keep those they have.
    #[error("{}", all_of(.0))]
    Reload(Vec<BindError>),
    /// The log could not be opened, or failed while the node ran.
    #[error("the log failed: {0}")]
    Store(#[from] StoreError),
    /// The log of a data group is whole and holds what this program does not understand.
    #[error("entry {index} of data group {data_group} cannot be read: {fault}")]
    Entry {
        /// The data group.
        data_group: u16,
        /// The entry.
        index: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A node on its own was to go on with a member's folder.
    #[error("{} is the folder of a member of a cluster, which does not go on alone", .dir.display())]
    OfCluster {
        /// The folder.
        dir: std::path::PathBuf,
    },
    /// The machine refused a thread, a descriptor or an event queue.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The audit trail cannot be written, and `audit.on_failure` says that nothing is done then.
    #[error("the audit trail cannot be written: {0}")]
    Audit(std::io::Error),
    /// A thread of the node has panicked: a defect of ours.
    #[error("{thread} stopped unexpectedly at {place}{}: {what}", in_hand_text(.in_hand.as_deref()))]
    Defect {
        /// Which thread.
        thread: String,
        /// Where, as `FILE:LINE` of the source.
        place: String,
        /// What a shard was at, and for which client, if it was for one.
        in_hand: Option<String>,
        /// The panic's message.
        what: String,
    },
    /// Connections were still busy when the time to drain was over.
    #[error("{connections} connections were still open after {timeout_ms} ms; they were cut{}", full_text(*.disk_full))]
    DrainTimeout {
        /// How many were cut.
        connections: u64,
        /// The time given.
        timeout_ms: u64,
        /// The disk was full: acknowledgements waited for the log.
        disk_full: bool,
    },
    /// A shard has not answered an operator in time.
    #[error("the broker has not answered in time")]
    NoAnswer,
    /// The node had failed before.
    #[error("{}", .0.message)]
    Failed(Failure),
}

impl NodeError {
    pub(crate) fn config(key: &str, what: String, remedy: &'static str) -> Self {
        NodeError::Config { key: key.to_owned(), what, remedy }
    }

    /// The same; a defect says what its shard had in hand.
    pub(crate) fn with_in_hand(self, words: Option<String>) -> Self {
        match self {
            NodeError::Defect { thread, place, what, .. } => NodeError::Defect { thread, place, in_hand: words, what },
            other => other,
        }
    }

    /// A short, stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            NodeError::Config { .. } => "config",
            NodeError::Bind(error) => bind_code(error),
            NodeError::Reload(_) => "certificate",
            NodeError::Store(error) => store_code(error),
            NodeError::Entry { .. } => "data_corrupt",
            NodeError::OfCluster { .. } => "data_folder",
            NodeError::System { .. } => "system",
            NodeError::Audit(_) => "audit",
            NodeError::Defect { .. } => "defect",
            NodeError::DrainTimeout { .. } => "drain_timeout",
            NodeError::NoAnswer => "no_answer",
            NodeError::Failed(failure) => failure.code,
        }
    }

    /// Whether the data folder is one that this version could never use, whoever else lets go of it.
    pub fn is_lasting(&self) -> bool {
        let NodeError::Store(error) = self else { return false };
        matches!(
            error,
            StoreError::Foreign { .. }
                | StoreError::FormatVersion { .. }
                | StoreError::WrongKind { .. }
                | StoreError::Emptied { .. }
        )
    }

    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            NodeError::Config { remedy, .. } => (*remedy).to_owned(),
            NodeError::Bind(error) => error.remedy(),
            NodeError::Reload(errors) => errors.first().map(BindError::remedy).unwrap_or_default(),
            // Their texts say what to do themselves, in the terms of the file or the setting that is to blame.
            NodeError::Store(error) if store_code(error) != "store" => String::new(),
            NodeError::Store(_) => "Check the data folder: its file system, its free space and its permissions.".into(),
            NodeError::Entry { .. } => {
                "Start the version of Lapwing that wrote it, or restore the data folder from a copy.".into()
            }
            NodeError::OfCluster { .. } => {
                "Start it with the [cluster] that `lapwing cluster init` or `join` was given, or name another folder."
                    .into()
            }
            NodeError::System { .. } => {
                "Raise the limits of this process (ulimit -n, ulimit -u) or use fewer shards.".into()
            }
            NodeError::Audit(_) => "Free some space, or name another file in audit.file.".into(),
            NodeError::Defect { .. } => "Restart the node, and please report this with the message.".into(),
            NodeError::NoAnswer => "Ask again; one that is being stopped answers no more.".into(),
            NodeError::Failed(failure) => failure.remedy.clone(),
            NodeError::DrainTimeout { disk_full: true, .. } => {
                "Free space on the disk of the data folder, or lower retain_bytes, before the node is stopped.".into()
            }
            NodeError::DrainTimeout { .. } => "Allow more time, or accept that slow clients are cut.".into(),
        }
    }
}

fn in_hand_text(in_hand: Option<&str>) -> String {
    in_hand.map(|words| format!(", with {words} in hand")).unwrap_or_default()
}

fn full_text(disk_full: bool) -> &'static str {
    if disk_full { "; the disk is full, and what waits for it was not acknowledged" } else { "" }
}

fn all_of(errors: &[BindError]) -> String {
    errors.iter().map(BindError::to_string).collect::<Vec<_>>().join("; ")
}

pub(crate) fn bind_code(error: &BindError) -> &'static str {
    match error {
        BindError::Address { .. } => "address",
        BindError::Certificate { .. } => "certificate",
        BindError::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => "address_in_use",
        BindError::Resolve { .. } | BindError::Bind { .. } => "bind",
    }
}

fn store_code(error: &StoreError) -> &'static str {
    match error {
        StoreError::Corrupt { .. } | StoreError::Emptied { .. } => "data_corrupt",
        StoreError::NotWritable { .. }
        | StoreError::Locked { .. }
        | StoreError::LookedAt { .. }
        | StoreError::Foreign { .. }
        | StoreError::FormatVersion { .. }
        | StoreError::WrongKind { .. } => "data_folder",
        StoreError::Full { .. } | StoreError::Exhausted { .. } => "data_full",
        StoreError::Setting { .. } | StoreError::SettingChanged { .. } => "stream_settings",
        _ => "store",
    }
}
