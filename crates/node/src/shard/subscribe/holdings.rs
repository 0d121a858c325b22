//! What the clients of one shard hold: counted where it changes, so that the sum is always at hand.
//!
//! Each connection and session remembers what of it was counted last; counting again brings the sum up to date. So a place
//! that changes something may count too often, and one that is forgotten is caught up with at the next.

use lapwing_session::Session;

use crate::shard::connections::connection::Connection;
use crate::shard::connections::skipping::Skipping;

/// A place in a queue or window: the message's reference, its delivery options, and the room that a growing list has to spare.
const WAITING_BYTES: u64 = 64;
/// A reference to a message that waits in the log only, here and in the state of its data group.
const PAGED_BYTES: u64 = 8;
/// A session with its places in the tables and its timer, and a client id of usual length.
const SESSION_BYTES: u64 = 1024;
/// A connection without its buffers, and what the kernel's registration costs here.
const CONNECTION_BYTES: u64 = 512;
/// A subscription in the session, the filter tree and the announcements, beside its filter.
const SUBSCRIPTION_BYTES: u64 = 512;
/// So many tables hold (parts of) the filter's text.
const FILTER_COPIES: u64 = 4;

/// What of a session's messages was counted last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Those in memory.
    waiting: u32,
    /// Those in the log only.
    paged: u32,
    /// Bytes of those in memory, if the session is kept.
    at_hand: u64,
}

impl Counted {
    fn of(session: &Session) -> Self {
        let waiting = (session.messages_at_hand() + session.inflight_messages()) as u32;
        let at_hand = session.kept_id().map_or(0, |_| session.bytes_at_hand());
        Counted { waiting, paged: session.paged_messages() as u32, at_hand }
    }
}

/// Sums of one shard.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    buffers: u64,
    waiting: u64,
    paged: u64,
    at_hand: u64,
    subscriptions: u64,
}

impl Holdings {
    /// Counts the buffers of a connection as they are now; those of strangers are in an account of their own.
    #[inline]
    pub(crate) fn connection(&mut self, connection: &mut Connection) {
        let skipped = connection.skipping().map_or(0, Skipping::held_bytes);
        let bytes = connection.input.capacity() + connection.output.capacity() + skipped;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if bytes != connection.counted_bytes && connection.stranger.is_none() {
            self.buffers = self.buffers + u64::from(bytes) - u64::from(connection.counted_bytes);
            connection.counted_bytes = bytes;
        }
    }

    /// The connection is gone.
    pub(crate) fn without_connection(&mut self, connection: &Connection) {
        self.buffers -= u64::from(connection.counted_bytes);
    }

    /// Counts what a session's messages take; `counted` is what was counted last.
    #[inline]
    pub(crate) fn session(&mut self, session: &Session, counted: &mut Counted) {
        let now = Counted::of(session);
        if now != *counted {
            self.waiting += u64::from(now.waiting);
            self.paged += u64::from(now.paged);
            self.at_hand += now.at_hand;
            self.without_session(std::mem::replace(counted, now));
        }
    }

    /// The session is out of the table.
    pub(crate) fn without_session(&mut self, counted: Counted) {
        self.waiting -= u64::from(counted.waiting);
        self.paged -= u64::from(counted.paged);
        self.at_hand -= counted.at_hand;
    }

    /// One subscription more.
    pub(crate) fn subscribed(&mut self, filter: &str) {
        self.subscriptions += subscription_bytes(filter);
    }

    /// One subscription less.
    pub(crate) fn unsubscribed(&mut self, filter: &str) {
        self.subscriptions = self.subscriptions.saturating_sub(subscription_bytes(filter));
    }

    /// Bytes of input and output buffers.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        self.buffers
    }

    /// Bytes of places in queues and windows; the messages themselves are counted apart.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.waiting * WAITING_BYTES + self.paged * PAGED_BYTES
    }

    /// Messages that wait in the log only.
    pub(crate) fn paged_messages(&self) -> u64 {
        self.paged
    }

    /// Bytes of the messages of kept sessions that are in memory, one that many keep for each of them, and of the references to
    /// those that are not.
    pub(crate) fn queue_bytes(&self) -> u64 {
        self.at_hand + self.paged * PAGED_BYTES
    }

    /// Bytes of subscriptions.
    pub(crate) fn subscription_bytes(&self) -> u64 {
        self.subscriptions
    }
}

/// Bytes of so many sessions and connections themselves.
pub(crate) fn client_bytes(sessions: usize, connections: usize) -> u64 {
    sessions as u64 * SESSION_BYTES + connections as u64 * CONNECTION_BYTES
}

fn subscription_bytes(filter: &str) -> u64 {
    SUBSCRIPTION_BYTES + FILTER_COPIES * filter.len() as u64
}
