//! What the shards say of their sessions when somebody asks.

use std::sync::Arc;

use lapwing_ledger::Published;
use lapwing_session::{Grant, QueuedView};
use serde::Serialize;

use crate::desk::Reply;
use crate::mail::decode_frame;
use crate::session_pages::{SessionPage, SessionQuery};

/// One session.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionReport {
    pub(crate) client_id: String,
    /// None: nobody in particular.
    pub(crate) user: Option<String>,
    pub(crate) is_connected: bool,
    /// Of its client, while it is connected.
    pub(crate) address: Option<String>,
    /// Where it came in, while it is connected: a URL.
    pub(crate) listener: Option<String>,
    /// Milliseconds since the epoch, while it is connected.
    pub(crate) connected_since_ms: Option<u64>,
    /// What its connection has brought and taken.
    pub(crate) bytes_in: Option<u64>,
    pub(crate) bytes_out: Option<u64>,
    /// Of MQTT, while it is connected.
    pub(crate) version: Option<&'static str>,
    /// Milliseconds since the epoch, while it is not connected.
    pub(crate) away_since_ms: Option<u64>,
    /// How long it outlives its connection; None: for ever.
    pub(crate) expiry_s: Option<u32>,
    /// When it ends, while it is not connected; None: never.
    pub(crate) ends_in_s: Option<u64>,
    pub(crate) subscriptions: usize,
    pub(crate) waiting_messages: usize,
    pub(crate) waiting_bytes: u64,
    /// QoS 1 and 2 that are not done, towards the client and from it.
    pub(crate) inflight_out: usize,
    pub(crate) inflight_in: usize,
    /// Messages that it was to have and never gets, since the node started; of these, QoS 1 and 2.
    pub(crate) lost_messages: u64,
    pub(crate) lost_acknowledged: u64,
    /// On disk.
    pub(crate) is_durable: bool,
    pub(crate) shard: usize,
}

impl SessionReport {
    /// Of what clients choose themselves.
    pub(crate) fn name_bytes(&self) -> usize {
        self.client_id.len() + self.user.as_ref().map_or(0, String::len)
    }
}

/// One session, with what it subscribes to and the head of its queue.
#[derive(Debug)]
pub(crate) struct SessionDetail {
    pub(crate) session: SessionReport,
    /// The first by filter.
    pub(crate) subscribed: Vec<SubscriptionReport>,
    /// Those that have waited longest.
    pub(crate) queue: Vec<QueuedReport>,
    /// The data group that its entries are in.
    pub(crate) data_group: u16,
}

/// One subscription.
#[derive(Debug, Serialize)]
pub(crate) struct SubscriptionReport {
    pub(crate) filter: String,
    pub(crate) qos: u8,
    pub(crate) no_local: bool,
    pub(crate) retain_as_published: bool,
    pub(crate) subscription_id: Option<u32>,
}

impl SubscriptionReport {
    pub(crate) fn new(filter: &str, grant: Grant) -> Self {
        SubscriptionReport {
            filter: filter.to_owned(),
            qos: grant.options.qos as u8,
            no_local: grant.options.no_local,
            retain_as_published: grant.options.retain_as_published,
            subscription_id: grant.subscription_id.map(|id| id.get()),
        }
    }
}

/// One message that waits.
#[derive(Debug, Serialize)]
pub(crate) struct QueuedReport {
    /// None until it has been read from the log.
    pub(crate) topic: Option<String>,
    pub(crate) qos: u8,
    pub(crate) retain: bool,
    pub(crate) bytes: u64,
    /// Since it was published; None: nobody wrote that down.
    pub(crate) age_ms: Option<u64>,
    /// None: it does not expire.
    pub(crate) expires_in_ms: Option<u64>,
    /// A group has given it to this client.
    pub(crate) is_of_group: bool,
    /// Its entry.
    #[serde(skip)]
    pub(crate) entry: Option<u64>,
}

impl QueuedReport {
    pub(crate) fn new(view: &QueuedView<'_>, now_ms: u64) -> Self {
        QueuedReport {
            topic: view.topic.map(str::to_owned),
            qos: view.qos as u8,
            retain: view.retain,
            bytes: view.bytes,
            age_ms: None,
            expires_in_ms: view.expires_at_ms.map(|at_ms| at_ms.saturating_sub(now_ms)),
            is_of_group: view.is_of_group,
            entry: view.entry.map(u64::from),
        }
    }

    /// Takes what its entry says; `now_ms`: on the node's clock, as the entry.
    pub(crate) fn complete(&mut self, published: &Published<'_>, now_ms: u64) {
        self.age_ms = Some(now_ms.saturating_sub(published.published_at_ms));
        if self.topic.is_none() {
            self.topic = decode_frame(published.frame).map(|publish| publish.topic.to_owned());
            let expires_at_ms = Some(published.expires_at_ms).filter(|at_ms| *at_ms > 0);
            self.expires_in_ms = expires_at_ms.map(|at_ms| at_ms.saturating_sub(now_ms));
        }
    }
}

/// What an order has dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Emptied {
    /// Messages that went.
    pub messages: u64,
    /// Their bytes, as they counted in the queue.
    pub bytes: u64,
}

/// What is asked of a shard.
pub(crate) enum SessionAsk {
    /// Its part of a page.
    List(Arc<SessionQuery>, Reply<SessionPage>),
    /// One session, and so many messages of its queue.
    Show(Box<str>, usize, Reply<Option<SessionDetail>>),
    /// That a session ends: whether there was one. Answered when it would not come back after a crash.
    End(Box<str>, Reply<bool>),
    /// That a connection ends, and its session stays as it would: whether there was one.
    Kick(Box<str>, Reply<bool>),
    /// That what waits for a session goes: None when there is no such session. Answered as for `End`.
    Empty(Box<str>, Reply<Option<Emptied>>),
    /// That groups take their settings as they are now, begin and end. Answered when that is on disk.
    RenewGroups(Reply<()>),
}
