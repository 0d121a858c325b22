//! Pages of retained messages, from the shard that keeps them to one of whose sessions has subscribed.

use std::sync::Arc;

use lapwing_router::Cursor;
use lapwing_session::{Message, SessionKey};

use crate::holder::Holder;
use crate::slot::ShardId;

/// Asks the owner of retained topics for a page of those that a subscription wants.
#[derive(Debug)]
pub(crate) struct PageRequest {
    pub(crate) to: SessionKey,
    /// The asking shard's number for it.
    pub(crate) id: u64,
    pub(crate) filter: Arc<str>,
    /// Begin behind this place.
    pub(crate) after: Option<Cursor>,
    pub(crate) messages_max: usize,
    pub(crate) bytes_max: usize,
    /// Leave out what the client with this hash has published (No Local).
    pub(crate) not_from: Option<u64>,
    /// By origin: the retained messages that must have been applied first.
    pub(crate) need: Box<[u64]>,
}

/// Where a retained message came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The hash of the publisher's client id, for No Local.
    pub(crate) publisher: u64,
    /// The shard that took it from its publisher.
    pub(crate) origin: ShardId,
    /// Its number among those that this one has sent to the owner of its topic; 0: it was there before the node started.
    pub(crate) seq: u64,
    /// Whose it is, where identities have shares.
    pub(crate) holder: Option<Holder>,
}

/// One message of a page.
#[derive(Debug)]
pub(crate) struct PageItem {
    pub(crate) message: Arc<Message>,
    pub(crate) source: Source,
    /// The place behind it.
    pub(crate) place: Cursor,
}

/// A part of what an owner keeps under a filter, as it is when the page is made.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) to: SessionKey,
    pub(crate) id: u64,
    pub(crate) messages: Vec<PageItem>,
    /// Where to go on; `None`: that is all.
    pub(crate) next: Option<Cursor>,
    /// By origin: the retained messages that the owner had applied.
    pub(crate) applied: Box<[u64]>,
    /// Messages that the owner had posted to the asking shard: they come first.
    pub(crate) posted: u64,
}
