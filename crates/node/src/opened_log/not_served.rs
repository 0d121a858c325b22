//! A node that did not begin to serve, and the log that it was to serve on.

use super::OpenedLog;
use crate::error::NodeError;

/// Why a node does not serve, and its log again: to try once more, or to close.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct NotServed {
    /// With everything in it that it had. `None`: nothing was given, or the log itself has failed.
    pub log: Option<OpenedLog>,
    /// What has failed.
    pub error: NodeError,
}

impl NotServed {
    /// Closes the log; for who does not try again.
    pub fn close(self) -> NodeError {
        // What fails first is what somebody has to see to; the log opens without a proper end too.
        let _ = self.log.map(OpenedLog::close);
        self.error
    }
}
