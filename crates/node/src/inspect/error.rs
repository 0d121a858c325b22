//! Why a data folder could not be looked at, or not be changed.

use lapwing_store::StoreError;

use crate::error::NodeError;

/// An error of a job on a data folder.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// Not what was meant: another folder, a broker that runs there, a name that nothing has.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// It could be done, and something would be lost or spoiled by it.
    #[error("{what}")]
    Refused {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// The folder could not be read or written.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl InspectError {
    /// A short, stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            InspectError::Usage { .. } => "store_usage",
            InspectError::Refused { .. } => "store_refused",
            InspectError::Node(error) => error.code(),
        }
    }

    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            InspectError::Usage { remedy, .. } | InspectError::Refused { remedy, .. } => remedy.clone(),
            InspectError::Node(error) => error.remedy(),
        }
    }

    /// The same of a job that only looks: what cannot be opened or listed is not damaged, and not looked at either.
    pub(super) fn of_looking(self) -> Self {
        match self {
            InspectError::Node(NodeError::Store(error @ StoreError::WrongKind { .. })) => {
                InspectError::usage(error.to_string(), "")
            }
            InspectError::Node(NodeError::Store(error @ StoreError::Io { .. })) => {
                InspectError::usage(error.to_string(), "check the permissions of the folder, and its file system")
            }
            other => other,
        }
    }

    pub(super) fn usage(what: String, remedy: &str) -> Self {
        InspectError::Usage { what, remedy: remedy.to_owned() }
    }

    pub(super) fn refused(what: String, remedy: &str) -> Self {
        InspectError::Refused { what, remedy: remedy.to_owned() }
    }
}

impl From<StoreError> for InspectError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Locked { dir, pid } => {
                let holder = pid.map_or_else(|| "a broker".to_owned(), |pid| format!("a broker (process {pid})"));
                let what = format!("{holder} is using the data folder {}", dir.display());
                let remedy = "stop it, or make a copy while it runs (lapwing store backup DATA TARGET) and take that";
                InspectError::usage(what, remedy)
            }
            StoreError::LookedAt { .. } | StoreError::NoData { .. } | StoreError::NoStream { .. } => {
                InspectError::usage(error.to_string(), "")
            }
            StoreError::NotMendable { .. } => InspectError::refused(error.to_string(), ""),
            other => InspectError::Node(NodeError::Store(other)),
        }
    }
}
