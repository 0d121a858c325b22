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

    /// A kept session has subscribed. `is_owed`: whether retained messages are owed to it for a filter.
    pub(crate) fn subscribe(
        &mut self,
        log: &mut LogFeed,
        kept: Kept,
        granted: &[(Box<str>, Grant)],
        is_owed: impl Fn(&str) -> bool,
    ) {
        self.subscribed(log, kept, true, granted, is_owed);
    }

    /// What was owed to a kept session for these subscriptions has come to it: they are logged as they are now.
    pub(crate) fn replayed(&mut self, log: &mut LogFeed, kept: Kept, granted: &[(Box<str>, Grant)]) {
        self.subscribed(log, kept, false, granted, |_| false);
    }

    fn subscribed(
        &mut self,
        log: &mut LogFeed,
        kept: Kept,
        awaited: bool,
        granted: &[(Box<str>, Grant)],
        is_owed: impl Fn(&str) -> bool,
    ) {
        let logged = |(filter, grant): &'_ (Box<str>, Grant)| encode_grant(*grant, is_owed(filter));
        let subscriptions: Vec<_> =
            granted.iter().map(|one| Subscription { filter: &one.0, grant: logged(one) }).collect();
        let subscriptions = List::from_slice(&subscriptions);
        self.append(log, kept.slot, awaited, &Entry::Subscribed(Subscribed { session: kept.id, subscriptions }));
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

/// In the lowest byte, where the wire has 0: retained messages are owed. Logs from before it was written have 0 there too, and
/// programs from before refuse a log with it.
const OWED_BIT: u64 = 1 << 6;

/// Options in the lowest byte, as on the wire, with [`OWED_BIT`]; the subscription identifier above, 0 there: none.
fn encode_grant(grant: Grant, is_owed: bool) -> u64 {
    let id = grant.subscription_id.map_or(0, |id| u64::from(id.get()));
    let owed = if is_owed { OWED_BIT } else { 0 };
    id << 8 | owed | u64::from(grant.options.to_byte())
}

/// What [`encode_grant`] made: the grant, and whether retained messages are owed; `None` where nothing like it was written.
pub(super) fn decode_grant(logged: u64) -> Option<(Grant, bool)> {
    let options = SubscriptionOptions::from_byte((logged & 0xff & !OWED_BIT) as u8)?;
    let id = u32::try_from(logged >> 8).ok()?;
    let subscription_id = if id == 0 { None } else { Some(SubscriptionId::new(id)?) };
    Some((Grant { options, subscription_id }, logged & OWED_BIT != 0))
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
                for is_owed in [false, true] {
                    assert_eq!(decode_grant(encode_grant(grant, is_owed)), Some((grant, is_owed)));
                }
            }
        }
        assert_eq!(decode_grant(0x03), None);
        assert_eq!(decode_grant(u64::MAX), None);
        assert_eq!(decode_grant(0x81), None);
    }

    /// Is what was written before anything was owed read as that nothing is, and are the bytes of what is owed those for ever?
    #[test]
    fn grants_from_before_owe_nothing() {
        let options = SubscriptionOptions { qos: QoS::AtLeastOnce, ..SubscriptionOptions::default() };
        let grant = Grant { options, subscription_id: SubscriptionId::new(2) };
        assert_eq!(decode_grant(0x201), Some((grant, false)));
        assert_eq!((encode_grant(grant, false), encode_grant(grant, true)), (0x201, 0x241));
        let every = (0..0x30_u64).filter_map(decode_grant);
        assert!(every.clone().count() > 30 && every.into_iter().all(|(_, is_owed)| !is_owed));
    }
}
