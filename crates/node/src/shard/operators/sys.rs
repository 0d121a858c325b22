//! Publishing the `$SYS` tree: one shard does it, for the whole node.

use std::sync::Arc;

use lapwing_codec::{Publish, PublishProperties, QoS};
use lapwing_session::{Routed, SessionKey};

use crate::metrics::ShardCounters;
use crate::shard::publish::route::Publisher;
use crate::shard::{Due, Shard};
use crate::sys::{Board, OURSELVES, Totals};

/// The publisher of `$SYS` and of events: nobody's key, so No Local never leaves anything out.
pub(in crate::shard) const NOBODY: SessionKey = SessionKey(u64::MAX - 1);
/// How soon it is tried again when mailboxes have no room.
const AGAIN_MS: u64 = 100;

/// On the shard that publishes the tree.
pub(crate) struct Sys {
    counters: Vec<Arc<ShardCounters>>,
    board: Board,
    interval_ms: u64,
}

impl Sys {
    /// `counters`: those of all shards. `None` when the tree is switched off.
    pub(crate) fn new(counters: Vec<Arc<ShardCounters>>, interval_ms: u64) -> Option<Self> {
        (interval_ms > 0).then(|| Sys { counters, board: Board::new(), interval_ms })
    }
}

impl Shard {
    /// Publishes what has changed, and sees to the next time.
    pub(in crate::shard) fn publish_sys(&mut self) {
        let Some(mut sys) = self.operators.sys.take() else { return };
        let has_credit = self.mail.post.has_credit();
        if has_credit && !self.draining {
            let totals = Totals::collect(&sys.counters, &self.shared);
            for (topic, value) in sys.board.update(&totals, self.shared.clock.uptime_ms()) {
                self.publish_value(&topic, &value);
            }
        }
        let wait_ms = if has_credit { sys.interval_ms } else { AGAIN_MS };
        self.timers.add(self.now_ms + wait_ms, Due::Sys);
        self.operators.sys = Some(sys);
    }

    fn publish_value(&mut self, topic: &str, value: &str) {
        let publish = Publish {
            dup: false,
            // A number that is late is worth nothing: nothing is queued for those who are away.
            qos: QoS::AtMostOnce,
            retain: true,
            topic,
            packet_id: None,
            properties: PublishProperties::default(),
            payload: value.as_bytes(),
        };
        let _ = self.route_as_it_is(&Routed::new(publish, NOBODY, self.now_ms), &mut Publisher::named(OURSELVES));
    }
}
