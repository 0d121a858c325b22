//! What of a data group has to be in memory from the start, read back from the log: retained messages, wills, what waits for
//! consumer groups.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_ledger::{DataGroupState, Entry, Fault};
use lapwing_session::Message;
use lapwing_store::journal::DataGroupId;
use rustc_hash::FxHashMap;

use super::deadline;
use super::restore::Recovered;
use crate::error::NodeError;
use crate::holder::Holder;
use crate::mail::decode_frame;
use crate::shard::mail::mailroom::ELSEWHERE;

/// By index: messages, and entries with wills.
#[derive(Debug, Default)]
pub(super) struct Stored {
    messages: FxHashMap<u64, StoredMessage>,
    /// Entries that hold a will.
    wills: FxHashMap<u64, Vec<u8>>,
}

/// One message.
#[derive(Clone, Debug)]
pub(crate) struct StoredMessage {
    pub(crate) message: Arc<Message>,
    /// Hash of its publisher's client id.
    pub(crate) publisher: u64,
    /// Whose retained message it is.
    pub(crate) holder: Option<Holder>,
    /// When it came in, on the node's clock.
    pub(crate) published_at_ms: u64,
}

impl Stored {
    /// Reads the wills of a data group's sessions and what its retained topics and consumer groups refer to, in one pass over
    /// its log. What waits for sessions stays where it is.
    ///
    /// # Errors
    /// `Store`; `Entry`: what is referred to is not there, or is no message.
    pub(super) fn read(recovered: &Recovered, data_group: u16, now_ms: u64) -> Result<Self, NodeError> {
        let wanted: Vec<u64> = wanted(&recovered.data_groups.get(data_group)).into_iter().collect();
        let (mut stored, mut failed) = (Stored::default(), None);
        recovered.reader.get_many(DataGroupId(data_group), &wanted, &mut |entry| match stored.take(
            entry.index,
            entry.body,
            now_ms,
        ) {
            Ok(()) => ControlFlow::Continue(()),
            Err(fault) => {
                failed = Some(NodeError::Entry { data_group, index: entry.index, fault });
                ControlFlow::Break(())
            }
        })?;
        if let Some(failed) = failed {
            return Err(failed);
        }
        let missing = wanted.iter().find(|index| !stored.has(**index));
        let fault = Fault::Malformed { at: 0, what: "it is referred to and not in the log" };
        missing.map_or(Ok(stored), |index| Err(NodeError::Entry { data_group, index: *index, fault }))
    }

    fn take(&mut self, index: u64, body: &[u8], now_ms: u64) -> Result<(), Fault> {
        let Entry::Published(published) = Entry::decode(body)? else {
            self.wills.insert(index, body.to_vec());
            return Ok(());
        };
        let publish = decode_frame(published.frame);
        let publish = publish.ok_or(Fault::Malformed { at: 0, what: "its message is no PUBLISH" })?;
        let expires_at_ms = deadline(published.expires_at_ms);
        let message = Arc::new(Message::new(&publish, ELSEWHERE, expires_at_ms));
        // A wall clock that was set back while the node was down makes nothing of the future.
        let (publisher, published_at_ms) = (published.publisher, published.published_at_ms.min(now_ms));
        let holder = published.holder.map(Holder::from_log);
        self.messages.insert(index, StoredMessage { message, publisher, holder, published_at_ms });
        Ok(())
    }

    fn has(&self, index: u64) -> bool {
        self.messages.contains_key(&index) || self.wills.contains_key(&index)
    }

    /// The message of an entry.
    pub(super) fn message(&self, index: u64) -> Option<&StoredMessage> {
        self.messages.get(&index)
    }

    /// The entry that holds a will.
    pub(super) fn will(&self, index: u64) -> Option<Entry<'_>> {
        self.wills.get(&index).and_then(|body| Entry::decode(body).ok())
    }
}

/// The entries of wills, of retained messages, and of what waits for groups, ascending.
fn wanted(state: &DataGroupState) -> BTreeSet<u64> {
    let of_groups = state.groups().flat_map(|group| group.queue().collect::<Vec<_>>());
    let wills = state.sessions().filter_map(|session| session.will().map(|will| will.entry));
    of_groups.chain(wills).chain(state.retained().map(|(_, index)| index)).collect()
}
