//! A message for the groups that live here.

use lapwing_groups::{Facts, Lane};
use lapwing_session::Routed;

use super::Shard;
use crate::config::{DispatchConfig, GroupConfig, GroupKey};
use crate::metrics::DropReason;
use crate::signals::{Said, SaidBy};
use crate::slot::stable_hash;

/// Where a message for groups comes from.
#[derive(Clone, Copy, Debug)]
pub(in crate::shard) struct Origin {
    /// Hash of the publisher's client id.
    pub(in crate::shard) client: u64,
    /// When it had been read, on the node's clock.
    pub(in crate::shard) ingress_us: u64,
}

impl Shard {
    /// Gives a message to every group here that wants its topic; true when one took it.
    pub(in crate::shard) fn publish_to_groups(&mut self, routed: &Routed<'_>, origin: Origin) -> bool {
        let now_us = self.clients.now_us;
        let topic = routed.publish().topic;
        let (mut taken, mut refused) = (false, 0);
        let topic_hash = stable_hash(topic.as_bytes());
        let said = Said::in_publish(&routed.publish().properties.user, said_by(&self.shared.config.dispatch));
        self.counters.traffic.signals_ignored.add(u64::from(said.1));
        self.groups.matches(topic, |owned| {
            if !owned.group.takes_messages() {
                refused += 1;
                return;
            }
            taken = true;
            let message = routed.keep();
            let (lane, deadline_us) = said.0.or_rule(rule_of(&owned.config, topic, said.0));
            let facts = Facts {
                expires_at_us: routed.expires_at_ms().map(|at_ms| at_ms.saturating_mul(1000)),
                client: origin.client,
                topic: topic_hash,
                key: Some(if owned.config.key == GroupKey::Client { origin.client } else { topic_hash }),
                lane,
                deadline_us,
                ..Facts::new(routed.publish().qos, message.footprint() as u64, origin.ingress_us)
            };
            owned.group.publish(message.clone(), facts, now_us);
        });
        self.counters.dropped(DropReason::GroupEmpty, refused);
        taken
    }
}

fn said_by(dispatch: &DispatchConfig) -> SaidBy<'_> {
    SaidBy { deadline: &dispatch.deadline_property, priority: &dispatch.priority_property }
}

/// What the group's first rule for the topic says, where the publisher leaves anything open.
fn rule_of(config: &GroupConfig, topic: &str, said: Said) -> Said {
    let rule = if said.is_complete() { None } else { config.rule_for(topic) };
    rule.map_or_else(Said::default, |rule| Said {
        lane: rule.priority.map(Lane::from),
        deadline_us: rule.deadline_ms.map(|ms| ms.saturating_mul(1000)),
    })
}
