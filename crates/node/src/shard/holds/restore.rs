//! Holds that the log has, when the node starts.

use std::sync::Arc;

use lapwing_codec::QoS;

use super::Shard;
use super::owned::{HeldMessage, Hold};
use crate::shard::durable::keeping::restore::RestoredGroup;

impl Shard {
    /// A hold comes back with what it had not finished; one that is not configured any more with what is left in it.
    pub(in crate::shard) fn restore_hold(&mut self, restored: RestoredGroup) {
        let Shard { holds, clients, shared, .. } = self;
        let place = holds.owned.iter().position(|hold| *hold.filter == *restored.filter);
        if restored.messages.is_empty() && place.is_none_or(|place| !holds.owned[place].logs) {
            if let Some(keeping) = &mut clients.keeping {
                keeping.group_ended(restored.kept);
            }
            return;
        }
        let place = place.unwrap_or_else(|| {
            shared.notify(format!(
                "hold \"{}\" is not configured any more; {} messages still wait in it for a subscriber",
                restored.filter,
                restored.messages.len()
            ));
            holds.owned.push(Hold::left(&restored.filter, Arc::default()));
            holds.owned.len() - 1
        });
        let hold = &mut holds.owned[place];
        hold.kept = Some(restored.kept);
        for (entry, stored) in restored.messages {
            let came_ms = stored.published_at_ms;
            let message = stored.message;
            if message.qos() == QoS::ExactlyOnce {
                hold.unsettled.insert(entry);
            }
            let deadline_ms = hold.deadline_ms(came_ms, message.expires_at_ms());
            let (bytes, topic) = (message.footprint() as u64, Box::<str>::from(message.topic()));
            let (publisher, ingress_us) = (stored.publisher, came_ms * 1000);
            let held =
                HeldMessage { message, publisher, ingress_us, entry: Some(entry), in_memory: false, is_resent: true };
            hold.queue.add(&topic, bytes, deadline_ms, held);
        }
        hold.show();
        restored.over.into_iter().for_each(|entry| self.finish_held(place, Some(entry)));
    }
}
