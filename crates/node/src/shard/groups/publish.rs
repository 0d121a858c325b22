//! A message for the groups that live here.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_groups::Facts;
use lapwing_session::Routed;

use super::Shard;
use crate::config::{DispatchConfig, GroupConfig, GroupKey, GroupRule};
use crate::metrics::{DropReason, ShardCounters};
use crate::shard::durable::DurableRoom;
use crate::shard::durable::awaited_entries::Awaited;
use crate::shard::groups::GroupRoom;
use crate::shard::publish::delivery::DeliveryContext;
use crate::signals::{Said, SaidBy};
use crate::slot::stable_hash;

/// What is the same for every group; made when the first one wants the message.
pub(super) struct Common {
    client: u64,
    topic: u64,
    said: Said,
}

impl Common {
    /// `client`: the hash of its publisher's client id.
    pub(super) fn new(routed: &Routed<'_>, client: u64, dispatch: &DispatchConfig, counters: &ShardCounters) -> Common {
        let publish = routed.publish();
        let (said, ignored) = Said::in_publish(&publish.properties.user, said_by(dispatch));
        counters.traffic.signals_ignored.add(u64::from(ignored));
        Common { client, topic: stable_hash(publish.topic.as_bytes()), said }
    }

    /// As one group sees the message, which takes up so many bytes and is logged there, if anywhere.
    pub(super) fn facts(
        &self,
        routed: &Routed<'_>,
        (bytes, entry): (usize, Option<NonZeroU64>),
        ingress_us: u64,
        config: &GroupConfig,
    ) -> Facts {
        let rule = rule_of(config, routed.publish().topic, self.said);
        let (lane, deadline_us) = self.said.or_rule(rule);
        let key = if config.key == GroupKey::Client { self.client } else { self.topic };
        Facts {
            lane,
            deadline_us,
            expires_at_us: routed.expires_at_ms().map(|at_ms| at_ms.saturating_mul(1000)),
            key: Some(key),
            client: self.client,
            topic: self.topic,
            entry,
            ..Facts::new(routed.publish().qos, bytes as u64, ingress_us)
        }
    }
}

impl Shard {
    /// Gives a message to every group here that wants its topic; true when one took it.
    pub(in crate::shard) fn publish_to_groups(&mut self, context: &mut DeliveryContext<'_>) -> bool {
        let Shard {
            groups: GroupRoom { table: groups, .. },
            clients,
            durable: DurableRoom { awaited_entries, .. },
            shared,
            counters,
            ..
        } = self;
        let (mut common, mut taken, mut empty) = (None, false, 0);
        let routed = context.routed;
        let qos = routed.publish().qos;
        groups.matches(routed.publish().topic, |owned| {
            if !owned.group.takes_messages() {
                empty += 1;
                return;
            }
            taken = true;
            if qos.is_acknowledged() && owned.kept.is_some_and(|kept| context.is_repeat(kept.slot)) {
                // It has it from before the node started.
                return;
            }
            if clients.keeps_no_more && owned.group.queued() > 0 {
                // It would have to wait, and there is no memory for that.
                counters.dropped(DropReason::MemoryFull, 1);
                return;
            }
            let common: &Common = common
                .get_or_insert_with(|| Common::new(routed, context.publisher.get(), &shared.config.dispatch, counters));
            let message = routed.keep();
            let is_kept = qos.is_acknowledged() && !context.in_memory;
            let kept = owned.kept.filter(|_| is_kept);
            let entry = kept.zip(clients.keeping.as_deref()).and_then(|(kept, keeping)| keeping.entry_of(kept));
            let facts = common.facts(routed, (message.footprint(), entry), context.ingress_us, &owned.config);
            if owned.group.publish(message.clone(), facts, clients.now_us)
                && let Some(kept) = kept
                && let Some((entry, keepers)) = context.entry_for(kept, clients.keeping.as_deref_mut())
            {
                keepers.add_group(kept, entry);
                if qos == QoS::ExactlyOnce {
                    owned.unsettled.insert(entry);
                    awaited_entries.push(Awaited::Bind { tag: owned.tag, through: entry });
                }
            }
        });
        // Of a message of a hold nobody loses anything: it waits there.
        if empty > 0 && !context.is_held {
            counters.dropped(DropReason::GroupEmpty, empty);
        }
        taken
    }
}

fn said_by(dispatch: &DispatchConfig) -> SaidBy<'_> {
    SaidBy { deadline: &dispatch.deadline_property, priority: &dispatch.priority_property }
}

/// What the group's first rule for the topic says, where the publisher leaves anything open.
fn rule_of(config: &GroupConfig, topic: &str, said: Said) -> Said {
    let rule = if said.is_complete() { None } else { config.rule_for(topic) };
    rule.map_or_else(Said::default, GroupRule::says)
}
