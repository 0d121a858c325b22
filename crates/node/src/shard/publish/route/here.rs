//! A message on the shard that it has come to: from a client here, by mail from another shard, or from a hold.

use lapwing_codec::{Publish, QoS};
use lapwing_envelope::{Envelope, sent_at_us};
use lapwing_session::{Routed, unstamped};

use super::{RoutePlan, Target};
use crate::log::{LogFeed, now_us};
use crate::mail::RouteFlags;
use crate::metrics::{DropReason, ShardCounters};
use crate::shard::Shard;
use crate::shard::durable::DurableRoom;
use crate::shard::publish::delivery::DeliveryContext;
use crate::shard::subscribe::SubscribeRoom;

/// Who was found for a message.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::shard) struct Found {
    /// The other shards that want it.
    pub(in crate::shard) plan: RoutePlan,
    /// Anybody at all wants it.
    pub(in crate::shard) any: bool,
    /// Somebody here has taken it: one that has subscribed with No Local does not take its own.
    pub(in crate::shard) is_taken: bool,
    /// A stream here keeps it.
    pub(in crate::shard) in_stream: bool,
}

impl Shard {
    /// Hands a message to those here that want it: sessions and groups, as `wanted` says. `stream_of`: it has come in here, from
    /// this client, and streams have it from here.
    #[inline]
    pub(in crate::shard) fn deliver_here(
        &mut self,
        context: &mut DeliveryContext<'_>,
        wanted: RouteFlags,
        stream_of: Option<&str>,
    ) -> Found {
        let mut found = Found::default();
        if wanted.has(RouteFlags::SESSIONS) {
            self.match_tree(context, stream_of, &mut found);
        }
        if wanted.has(RouteFlags::GROUPS) && !self.groups.table.is_empty() {
            let is_taken = self.publish_to_groups(context);
            found.any |= is_taken;
            found.is_taken |= is_taken;
        }
        found
    }

    /// Delivers to the sessions here, and finds out who else wants it.
    #[inline]
    fn match_tree(&mut self, context: &mut DeliveryContext<'_>, stream_of: Option<&str>, found: &mut Found) {
        let Shard {
            subscriptions: SubscribeRoom { tree, .. },
            clients,
            durable: DurableRoom { log, .. },
            counters,
            now_ms,
            ..
        } = self;
        let publish = context.routed.publish();
        let mut deliveries = 0;
        tree.matches(publish.topic, |entries| {
            found.any |= match entries[0].subscriber {
                // A session that has just ended may still stand there.
                Target::Session(key) => {
                    let options = entries.iter().map(|entry| &entry.options);
                    let delivered = clients.deliver(key, context, options, *now_ms);
                    deliveries += u64::from(delivered.is_some());
                    found.is_taken |= delivered == Some(true);
                    delivered.is_some()
                }
                Target::Stream(stream) => {
                    let Some((log, client_id)) = log.as_mut().zip(stream_of) else { return };
                    found.in_stream |= append_to_stream(log, stream, publish, client_id, counters);
                    true
                }
                other => found.plan.add(other),
            };
        });
        counters.deliveries.add(deliveries);
    }

    /// Gives a message to the streams that want it, and to nobody else; true when one keeps it.
    pub(in crate::shard) fn append_to_streams(&mut self, routed: &Routed<'_>, client_id: &str) -> bool {
        let Shard {
            subscriptions: SubscribeRoom { tree, .. },
            durable: DurableRoom { log: Some(log), .. },
            counters,
            shared,
            ..
        } = self
        else {
            return false;
        };
        if shared.config.streams.is_empty() {
            return false;
        }
        let (publish, mut in_stream) = (routed.publish(), false);
        tree.matches(publish.topic, |entries| {
            if let Target::Stream(stream) = entries[0].subscriber {
                in_stream |= append_to_stream(log, stream, publish, client_id, counters);
            }
        });
        in_stream
    }
}

/// Gives a message to a stream; false when it has to do without.
fn append_to_stream(
    log: &mut LogFeed,
    stream: u32,
    publish: &Publish<'_>,
    client_id: &str,
    counters: &ShardCounters,
) -> bool {
    if publish.qos == QoS::AtMostOnce && log.is_disk_full() {
        counters.dropped(DropReason::StreamDiskFull, 1);
        return false;
    }
    counters.stream_records.add(1);
    log.append(stream, &envelope(publish, client_id), unstamped(publish.properties.user).iter());
    true
}

fn envelope<'a>(publish: &Publish<'a>, client_id: &'a str) -> Envelope<'a> {
    Envelope {
        topic: publish.topic,
        payload: publish.payload,
        client_id,
        qos: publish.qos as u8,
        retain: publish.retain,
        sent_at_us: sent_at_us(publish.properties.user.iter()),
        ingress_at_us: now_us(),
    }
}
