//! The life of kept sessions, as entries: opened, changed, subscribed, over.

use lapwing_codec::{SubscriptionId, SubscriptionOptions};
use lapwing_ledger::{
    Changed, Cleared, Entry, KeeperId, List, Opened, Presence, Subscribed, Subscription, Unsubscribed, Will,
};
use lapwing_session::Grant;

use super::{Keeping, Kept};
use crate::log::LogFeed;
use crate::slot::Slot;

/// A session that begins to be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning<'a> {
    pub(crate) client_id: &'a str,
    /// As [`super::identity::encode`] has it.
    pub(crate) identity: &'a [u8],
    pub(crate) expiry_s: u32,
    pub(crate) will: Option<Will<'a>>,
    /// Somebody waits for it.
    pub(crate) awaited: bool,
}

impl Keeping {
    /// A session is kept from now on, or its will alone where it ends with its connection; another one of the same client id ends with it.
    pub(crate) fn begin(&mut self, log: &mut LogFeed, beginning: Beginning<'_>) -> Kept {
        let Beginning { client_id, identity, expiry_s, will, awaited } = beginning;
        let slot = Slot::of(client_id.as_bytes());
        let entry = Entry::Opened(Opened { client_id, identity, expiry_s, opened_at_ms: self.now_ms, will });
        Kept { id: KeeperId(self.append(log, slot, awaited, &entry)), slot }
    }

    /// A kept session is not what it was; returns the entry's index. `awaited`: its client is told so.
    pub(crate) fn change(&mut self, log: &mut LogFeed, kept: Kept, changed: Changed<'_>, awaited: bool) -> u64 {
        self.append(log, kept.slot, awaited, &Entry::Changed(changed))
    }

    /// Its client is here, or not any more, as from now.
    pub(crate) fn presence(&self, connected: bool) -> Option<Presence> {
        Some(Presence { connected, at_ms: self.now_ms })
    }

    /// A kept session has subscribed.
    pub(crate) fn subscribe(&mut self, log: &mut LogFeed, kept: Kept, granted: &[(Box<str>, Grant)]) {
        let subscriptions: Vec<_> =
            granted.iter().map(|(filter, grant)| Subscription { filter, grant: encode_grant(*grant) }).collect();
        let subscriptions = List::from_slice(&subscriptions);
        self.append(log, kept.slot, true, &Entry::Subscribed(Subscribed { session: kept.id, subscriptions }));
    }

    /// A kept session has some subscriptions no more.
    pub(crate) fn unsubscribe(&mut self, log: &mut LogFeed, kept: Kept, filters: &[&str]) {
        let filters = List::from_slice(filters);
        self.append(log, kept.slot, true, &Entry::Unsubscribed(Unsubscribed { session: kept.id, filters }));
    }

    /// The retained message of a topic is no more. `awaited`: its publisher waits for it.
    pub(crate) fn clear(&mut self, log: &mut LogFeed, topic: &str, awaited: bool) {
        let topics = [topic];
        let entry = Entry::Cleared(Cleared { topics: List::from_slice(&topics) });
        self.append(log, Slot::of(topic.as_bytes()), awaited, &entry);
    }
}

/// Options in the lowest byte, as on the wire, the subscription identifier above; 0 there: none.
fn encode_grant(grant: Grant) -> u64 {
    let id = grant.subscription_id.map_or(0, |id| u64::from(id.get()));
    id << 8 | u64::from(grant.options.to_byte())
}

/// What [`encode_grant`] made; `None` where nothing like it was written.
pub(super) fn decode_grant(grant: u64) -> Option<Grant> {
    let options = SubscriptionOptions::from_byte((grant & 0xff) as u8)?;
    let id = u32::try_from(grant >> 8).ok()?;
    let subscription_id = if id == 0 { None } else { Some(SubscriptionId::new(id)?) };
    Some(Grant { options, subscription_id })
}

#[cfg(test)]
mod tests {
    use lapwing_codec::{QoS, RetainHandling};

    use super::*;

    /// Does every grant come back as it was, and is what none could be refused?
    #[test]
    fn grants_there_and_back() {
        for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
            for id in [None, SubscriptionId::new(1), SubscriptionId::new(268_435_455)] {
                let options = SubscriptionOptions {
                    qos,
                    no_local: true,
                    retain_as_published: true,
                    retain_handling: RetainHandling::SendIfNew,
                };
                let grant = Grant { options, subscription_id: id };
                assert_eq!(decode_grant(encode_grant(grant)), Some(grant));
            }
        }
        assert_eq!(decode_grant(0x03), None);
        assert_eq!(decode_grant(u64::MAX), None);
    }
}
