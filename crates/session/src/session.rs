//! The session: everything that belongs to one client id.

use std::sync::Arc;

use crate::ack_line::AckLine;
use crate::flight::Window;
use crate::id_set::IdSet;
use crate::link::Link;
use crate::losses::LossBook;
use crate::queue::Queue;
use crate::subscribed::Subscribed;
use crate::told::Told;
use crate::will::StoredWill;
use crate::{DropReason, Grant, Losses, Settings, WillMessage};

/// Names a session inside one process, so that No Local can tell a publisher from others. The node chooses it: unique
/// among living sessions, the same for all connections of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

/// No time comes as late.
pub(crate) const NEVER: u64 = u64::MAX;

/// One client's protocol state; outlives its connections.
#[derive(Debug)]
pub struct Session {
    pub(crate) settings: Arc<Settings>,
    pub(crate) key: SessionKey,
    pub(crate) client_id: Arc<str>,
    /// Seconds that the session outlives its connection; `u32::MAX` = forever.
    pub(crate) expiry_s: u32,
    /// When the session ends; [`NEVER`], as long as there is a connection or it stays for ever.
    pub(crate) ends_at_ms: u64,
    pub(crate) subscriptions: Subscribed,
    /// QoS 1 and 2 messages sent to the client and not done.
    pub(crate) window: Window,
    /// Messages waiting for room in the window or for the client to come back.
    pub(crate) queue: Queue,
    /// A page of what lies in the log is being read.
    pub(crate) reads_page: bool,
    /// Packet ids of QoS 2 messages from the client that have been published and not released.
    pub(crate) receipts: IdSet,
    /// Acknowledgements to the client that wait for a commit.
    pub(crate) acks: AckLine,
    pub(crate) will: Option<Box<StoredWill>>,
    /// What the outside has to learn and has not taken yet.
    pub(crate) told: Told,
    /// The current connection.
    pub(crate) link: Option<Link>,
}

// A broker may have a hundred thousand of them, of which most are idle: what few need, or for a moment, lies behind a pointer.
const _: () = assert!(size_of::<Session>() <= 248);

impl Session {
    /// The client id.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// The same, for whoever keeps it too.
    pub const fn shared_client_id(&self) -> &Arc<str> {
        &self.client_id
    }

    /// The node's name for this session.
    pub const fn key(&self) -> SessionKey {
        self.key
    }

    /// Whether the session ends with its connection.
    pub const fn is_volatile(&self) -> bool {
        self.expiry_s == 0
    }

    /// Seconds that the session outlives its connection, as granted; `u32::MAX` = for ever.
    pub const fn expiry_s(&self) -> u32 {
        self.expiry_s
    }

    /// The will that is published when the client goes without saying goodbye, or waits for its delay.
    pub fn will(&self) -> Option<WillMessage<'_>> {
        self.will.as_ref().map(|will| will.will_message())
    }

    /// The subscriptions: filter as the client wrote it, and what was granted.
    pub fn subscriptions(&self) -> impl ExactSizeIterator<Item = (&str, Grant)> {
        self.subscriptions.iter()
    }

    /// What was granted for `filter` (as the client wrote it), if the session has it.
    pub fn grant(&self, filter: &str) -> Option<Grant> {
        self.subscriptions.get(filter)
    }

    /// Messages that wait, those unacknowledged not counted.
    pub fn queued_messages(&self) -> usize {
        self.queue.len()
    }

    /// Bytes of the messages that wait, wherever they lie.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// QoS 1 and 2 messages that were sent and are not acknowledged.
    pub fn inflight_messages(&self) -> usize {
        self.window.len()
    }

    /// What the session was to have and never gets, since the node started.
    pub fn losses(&self) -> Losses {
        self.told.losses().map_or_else(Losses::default, LossBook::losses)
    }

    /// A message was not even given to the session, for want of memory.
    pub fn note_refused(&mut self) {
        self.told.note_gone(DropReason::QueueFull, true);
    }

    /// Takes out why the first acknowledged message was lost since the client was last here, if nobody was told.
    #[inline]
    pub fn take_loss_news(&mut self) -> Option<DropReason> {
        self.told.losses_mut()?.take_news()
    }

    /// Whether a QoS 1 or 2 message of so many bytes would be sent at once, or find room in the queue.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        (self.link.is_some() && self.queue.is_empty()) || self.queue.has_room(bytes, &self.settings)
    }

    /// Whether acknowledgements wait for a commit.
    pub fn awaits_commit(&self) -> bool {
        !self.acks.is_empty()
    }

    /// When `tick` wants to be called next, on the monotonic clock; `None` = never, as things stand.
    ///
    /// Packets move it later without notice: an early `tick` does no harm.
    pub fn deadline_ms(&self) -> Option<u64> {
        match &self.link {
            Some(link) => [link.silent_until_ms(), link.idle_until_ms(&self.settings)].into_iter().flatten().min(),
            None => {
                let will = self.will.as_ref().and_then(|will| will.due_at_ms);
                [self.ends_at_ms(), will].into_iter().flatten().min()
            }
        }
    }
}
