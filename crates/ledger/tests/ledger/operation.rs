//! What a history is made of: an entry with everything owned.

use lapwing_ledger::{
    Changed, Cleared, DeliveryOptions, Ended, Entry, Fact, Fault, GroupDeclared, GroupEnded, GroupOpened, KeeperId,
    KeepersBuf, List, Opened, Origin, Presence, ProgressBuf, Published, Settled, SettledPublisher, Subscribed,
    Subscription, SubscriptionIds, Unsubscribed, Will,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnOptions {
    pub qos: u8,
    pub retain: bool,
    pub ids: Vec<u32>,
}

impl OwnOptions {
    pub fn of(options: DeliveryOptions<'_>) -> Self {
        OwnOptions { qos: options.qos, retain: options.retain, ids: options.ids.iter().collect() }
    }
}

#[derive(Clone, Debug)]
pub struct OwnWill {
    pub frame: Vec<u8>,
    pub delay_s: u32,
    pub message_expiry_s: Option<u32>,
}

impl OwnWill {
    fn borrow(&self) -> Will<'_> {
        Will { frame: &self.frame, delay_s: self.delay_s, message_expiry_s: self.message_expiry_s }
    }
}

#[derive(Clone, Debug)]
pub enum Operation {
    Open {
        client_id: String,
        identity: Vec<u8>,
        expiry_s: u32,
        opened_at_ms: u64,
        will: Option<OwnWill>,
    },
    Change {
        session: u64,
        expiry_s: Option<u32>,
        identity: Option<Vec<u8>>,
        will: Option<Option<OwnWill>>,
        presence: Option<(bool, u64)>,
    },
    End(Vec<u64>),
    Subscribe(u64, Vec<(String, u64)>),
    Unsubscribe(u64, Vec<String>),
    Publish {
        frame: Vec<u8>,
        keepers: Vec<(u64, OwnOptions)>,
        groups: Vec<u64>,
        retained: Option<String>,
        origin: Option<Origin>,
    },
    Progress(Vec<(u64, Fact)>),
    Clear(Vec<String>),
    OpenGroup(String, String),
    DeclareGroup(u64, Option<Vec<u8>>),
    EndGroup(Vec<u64>),
    Settle(Vec<SettledPublisher>),
}

impl Operation {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![];
        self.encode_into(&mut out).expect("within the bounds");
        out
    }

    fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Operation::Open { client_id, identity, expiry_s, opened_at_ms, will } => {
                let will = will.as_ref().map(OwnWill::borrow);
                let (expiry_s, opened_at_ms) = (*expiry_s, *opened_at_ms);
                Entry::Opened(Opened { client_id, identity, expiry_s, opened_at_ms, will }).encode(out)
            }
            Operation::Change { session, expiry_s, identity, will, presence } => Entry::Changed(Changed {
                session: KeeperId(*session),
                expiry_s: *expiry_s,
                identity: identity.as_deref(),
                will: will.as_ref().map(|will| will.as_ref().map(OwnWill::borrow)),
                presence: presence.map(|(connected, at_ms)| Presence { connected, at_ms }),
            })
            .encode(out),
            Operation::End(ids) => Entry::Ended(Ended { sessions: List::from_slice(&keepers(ids)) }).encode(out),
            Operation::Subscribe(session, filters) => {
                let list: Vec<_> =
                    filters.iter().map(|(filter, grant)| Subscription { filter, grant: *grant }).collect();
                let subscriptions = List::from_slice(&list);
                Entry::Subscribed(Subscribed { session: KeeperId(*session), subscriptions }).encode(out)
            }
            Operation::Unsubscribe(session, filters) => {
                let list: Vec<_> = filters.iter().map(String::as_str).collect();
                let filters = List::from_slice(&list);
                Entry::Unsubscribed(Unsubscribed { session: KeeperId(*session), filters }).encode(out)
            }
            Operation::Publish { .. } => self.encode_publish(out),
            Operation::Progress(facts) => {
                let mut progress = ProgressBuf::new();
                facts.iter().for_each(|(id, fact)| progress.push(KeeperId(*id), *fact));
                Entry::Progress(progress.as_progress()).encode(out)
            }
            Operation::Clear(topics) => {
                let list: Vec<_> = topics.iter().map(String::as_str).collect();
                Entry::Cleared(Cleared { topics: List::from_slice(&list) }).encode(out)
            }
            Operation::Settle(publishers) => {
                Entry::Settled(Settled { publishers: List::from_slice(publishers) }).encode(out)
            }
            Operation::OpenGroup(name, filter) => Entry::GroupOpened(GroupOpened { name, filter }).encode(out),
            Operation::DeclareGroup(group, settings) => {
                let (group, settings) = (KeeperId(*group), settings.as_deref());
                Entry::GroupDeclared(GroupDeclared { group, settings }).encode(out)
            }
            Operation::EndGroup(ids) => {
                Entry::GroupEnded(GroupEnded { groups: List::from_slice(&keepers(ids)) }).encode(out)
            }
        }
    }

    fn encode_publish(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let Operation::Publish { frame, keepers: own, groups, retained, origin } = self else { return Ok(()) };
        let mut buffer = KeepersBuf::new();
        for (id, options) in own {
            let ids = match &*options.ids {
                [] => SubscriptionIds::EMPTY,
                [one] => SubscriptionIds::one(*one),
                many => SubscriptionIds::from_slice(many),
            };
            buffer.push(KeeperId(*id), DeliveryOptions { qos: options.qos, retain: options.retain, ids })?;
        }
        Entry::Published(Published {
            frame,
            published_at_ms: 1_700_000_000_000,
            expires_at_ms: 0,
            publisher: 0xFEED,
            holder: None,
            origin: *origin,
            keepers: buffer.as_list(),
            groups: List::from_slice(&keepers(groups)),
            retained: retained.as_deref(),
        })
        .encode(out)
    }
}

fn keepers(ids: &[u64]) -> Vec<KeeperId> {
    ids.iter().map(|id| KeeperId(*id)).collect()
}
