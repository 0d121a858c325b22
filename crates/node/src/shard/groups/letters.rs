//! What a group publishes itself: dead letters, and misses.

use lapwing_codec::{Publish, PublishProperties, QoS, UserProperties, UserPropertiesBuf};
use lapwing_groups::{DropReason as Reason, Facts, Lane};
use lapwing_session::{Accepted, CommitToken, Message, Routed, SessionKey, message_id};
use serde_json::json;

use super::Shard;
use crate::metrics::DropReason;
use crate::shard::publish::route::Publisher;
use crate::slot::stable_hash;

/// The user property of a dead letter that names its group.
const GROUP: &str = "lapwing-group";
/// In place of a publisher's client id.
const PUBLISHER: &str = "$lapwing";

impl Shard {
    /// Publishes a message that its group did not deliver to the group's dead-letter topic. Returns the token with which
    /// the letter is on disk; None: nobody keeps it.
    pub(super) fn dead_letter(
        &mut self,
        place: usize,
        message: &Message,
        facts: &Facts,
        reason: Reason,
    ) -> Option<CommitToken> {
        let now_us = self.clients.now_us;
        let owned = self.groups.table.get(place)?;
        let Some(topic) = owned.config.dead_letter_topic.clone() else {
            // Its table has just changed.
            self.counters.dropped(DropReason::NoDeadLetterTopic, 1);
            return None;
        };
        let source = message.publish();
        if is_own_letter(facts) && source.properties.user.iter().any(|said| said == (GROUP, &*owned.name)) {
            // It has been here: this group's letters, or those of another one, come back to it. What a client publishes with
            // that property (a letter that somebody tries again, say) has not.
            self.counters.dropped(DropReason::DeadLetterLoop, 1);
            return None;
        }
        let age_ms = now_us.saturating_sub(facts.ingress_us) / 1000;
        let said = [
            ("lapwing-reason", reason.name().to_owned()),
            (GROUP, owned.name.to_string()),
            ("lapwing-topic", source.topic.to_owned()),
            ("lapwing-age-ms", age_ms.to_string()),
        ];
        let deadline = &self.shared.config.dispatch.deadline_property;
        let Some(user) = with_properties(source.properties.user, deadline, &said) else {
            self.counters.dropped(DropReason::NoDeadLetterTopic, 1);
            return None;
        };
        // Its time was over with the message: the letter itself is kept for whoever reads such letters.
        let properties = PublishProperties { user: user.as_ref(), message_expiry_s: None, ..source.properties };
        let letter = Publish { topic: &topic, retain: false, properties, ..source };
        match self.publish_own(letter, message.publisher()) {
            Accepted::Later(token) => Some(token),
            Accepted::Now | Accepted::NobodySubscribed | Accepted::Refused(_) => None,
        }
    }

    /// Publishes that a deadline was missed, to whom it matters.
    pub(super) fn missed(
        &mut self,
        place: usize,
        member: Option<SessionKey>,
        message: &Message,
        facts: &Facts,
        took_us: u64,
    ) {
        let Some(owned) = self.groups.table.get(place) else { return };
        let Some(topic) = owned.config.missed_topic.clone() else { return };
        let client_id = member.and_then(|member| owned.people.get(&member)).map(|person| person.client_id.to_string());
        let text = json!({
            "group": &*owned.name,
            "filter": &*owned.filter,
            "topic": message.topic(),
            "message_id": message_id(message.publish().properties.user),
            "client_id": client_id,
            "lane": if facts.lane == Lane::Critical { "critical" } else { "bulk" },
            "deadline_ms": facts.deadline_us.map(|us| us / 1000),
            "took_ms": took_us as f64 / 1000.0,
            "at_us": crate::log::now_us(),
        });
        let text = text.to_string();
        // QoS 0: nobody waits for it.
        let _ = self.publish_own(Publish::qos0(&topic, text.as_bytes()), SessionKey(u64::MAX));
    }

    fn publish_own(&mut self, publish: Publish<'_>, publisher: SessionKey) -> Accepted {
        debug_assert!(publish.qos == QoS::AtMostOnce || !publish.retain);
        // A dead letter keeps the stamp of its message.
        self.route_as_it_is(&Routed::new(publish, publisher, self.now_ms), &mut Publisher::named(PUBLISHER))
    }
}

/// Whether a message was published by the node itself: `facts` name its publisher, whatever its properties say.
fn is_own_letter(facts: &Facts) -> bool {
    facts.client == stable_hash(PUBLISHER.as_bytes())
}

/// The user properties of a message without the one called `without`, and `said` behind them; None: they do not fit.
fn with_properties(source: UserProperties<'_>, without: &str, said: &[(&str, String)]) -> Option<UserPropertiesBuf> {
    let mut user = UserPropertiesBuf::new();
    for (name, value) in source.iter().filter(|(name, _)| *name != without) {
        user.push(name, value).ok()?;
    }
    for (name, value) in said {
        user.push(name, value).ok()?;
    }
    Some(user)
}
