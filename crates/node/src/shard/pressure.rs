//! The node's memory: what this shard adds to the account, and what it refuses while there is too little.

use lapwing_codec::QoS;
use lapwing_session::Message;

use super::Shard;
use super::connections::connection::Pause;
use super::subscribe::holdings::client_bytes;
use crate::log::LogFeed;
use crate::memory::{Part, Pressure};
use crate::metrics::DropReason;
use crate::notices::NoticeKind;

impl Shard {
    /// Publishes this shard's account and looks how the whole node stands.
    pub(super) fn look_at_memory(&mut self) {
        let account = self.shared.memory.account(self.id.index());
        let clients = &self.clients;
        let bytes = [
            (Part::Messages, Message::balance_bytes()),
            (Part::Waiting, clients.holdings.waiting_bytes() as i64),
            (Part::Buffers, clients.holdings.buffer_bytes() as i64),
            (Part::Clients, client_bytes(clients.session_count(), clients.settled_count()) as i64),
            (Part::Subscriptions, clients.holdings.subscription_bytes() as i64),
            (Part::Log, self.durable.log.as_ref().map_or(0, LogFeed::waiting_bytes) as i64),
        ];
        bytes.into_iter().for_each(|(part, bytes)| account.set(part, bytes));
        let (pressure, notice) = self.shared.memory.look();
        self.counters.traffic.kept_messages.set(Message::balance() as u64);
        self.counters.limits.queue_memory.set(clients.holdings.queue_bytes());
        self.counters.limits.paged_messages.set(clients.holdings.paged_messages());
        self.pressure = pressure;
        self.clients.keeps_no_more = pressure == Pressure::Full;
        if let Some(notice) = notice {
            self.shared.tell(NoticeKind::Memory, notice);
        }
        self.counters.dropped(DropReason::MemoryFull, std::mem::take(&mut self.clients.not_kept));
    }

    /// Whether a client's message is refused for want of memory, and counts it.
    pub(super) fn refuses_unacknowledged(&self, qos: QoS) -> bool {
        let refused = self.pressure >= Pressure::High && qos == QoS::AtMostOnce;
        if refused {
            self.counters.dropped(DropReason::MemoryHigh, 1);
        }
        refused
    }

    /// Whether a new connection is refused for want of memory, and counts it.
    pub(super) fn refuses_connections(&self) -> bool {
        let refused = self.pressure >= Pressure::High;
        if refused {
            self.counters.limits.refused_memory.add(1);
        }
        refused
    }

    /// Lets a large packet wait while there is no memory for the rest of it; true when it does.
    pub(super) fn must_wait_for_memory(&mut self, index: usize) -> bool {
        if self.pressure < Pressure::Full {
            return false;
        }
        self.pause(index, Pause::Memory);
        true
    }
}
