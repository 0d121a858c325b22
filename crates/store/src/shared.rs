//! What the writer and every reader of a log hold together.

use std::sync::Arc;

use crate::disk::Disk;
use crate::error::StoreError;
use crate::met::Met;
use crate::notice::{Notice, Notices, StoreCounters};
use crate::stream::state::Stream;

/// The open log.
#[derive(Debug)]
pub(crate) struct Shared {
    pub disk: Arc<dyn Disk>,
    pub streams: Vec<Stream>,
    pub counters: StoreCounters,
    pub notices: Notices,
    pub readers_max: usize,
    pub met: Met,
}

impl Shared {
    /// The error for a stream that is not there.
    pub(crate) fn no_stream(&self, name: &str) -> StoreError {
        StoreError::NoStream { name: name.to_owned(), known: self.streams.iter().map(|s| s.name.clone()).collect() }
    }

    pub(crate) fn notice(&self, notice: Notice) {
        self.counters.keep(&self.notices, notice);
    }
}
