//! The naive state: what the operations mean, written once more with nothing but maps.

use std::collections::BTreeMap;

use lapwing_ledger::{Fact, SettledPublisher, WillRef};

use crate::operation::{Operation, OwnWill};
use crate::picture::{GroupPicture, Picture, SessionPicture};

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub picture: Picture,
    /// First use that is not settled, of each publisher that is remembered.
    pub settled: BTreeMap<(u16, u64), u64>,
}

impl Model {
    pub fn apply(&mut self, index: u64, operation: &Operation) {
        self.picture.applied = index;
        match operation {
            Operation::Open { client_id, identity, expiry_s, opened_at_ms, will } => {
                let session = SessionPicture {
                    id: index,
                    identity: identity.clone(),
                    expiry_s: *expiry_s,
                    opened_at_ms: *opened_at_ms,
                    will: will.as_ref().map(|will| will_ref(index, will)),
                    next_use: 1,
                    ..SessionPicture::default()
                };
                self.picture.sessions.insert(client_id.clone(), session);
            }
            Operation::Change { .. } => self.change(index, operation),
            Operation::End(ids) => self.picture.sessions.retain(|_, session| !ids.contains(&session.id)),
            Operation::Subscribe(id, filters) => {
                self.session(*id).into_iter().for_each(|session| session.subscriptions.extend(filters.iter().cloned()));
            }
            Operation::Unsubscribe(id, filters) => {
                let forget = |session: &mut SessionPicture| session.subscriptions.retain(|f, _| !filters.contains(f));
                self.session(*id).into_iter().for_each(forget);
            }
            Operation::Publish { .. } => self.publish(index, operation),
            Operation::Progress(facts) => facts.iter().for_each(|(id, fact)| self.note(*id, *fact)),
            Operation::Clear(topics) => self.picture.retained.retain(|topic, _| !topics.contains(topic)),
            Operation::OpenGroup(name, filter) => {
                let group = GroupPicture { id: index, ..GroupPicture::default() };
                self.picture.groups.insert((name.clone(), filter.clone()), group);
            }
            Operation::Settle(publishers) => self.settle_all(publishers),
            Operation::DeclareGroup(id, settings) => {
                let group = self.picture.groups.values_mut().find(|group| group.id == *id);
                group.into_iter().for_each(|group| group.declared.clone_from(settings));
            }
            Operation::EndGroup(ids) => self.picture.groups.retain(|_, group| !ids.contains(&group.id)),
        }
    }

    fn session(&mut self, id: u64) -> Option<&mut SessionPicture> {
        self.picture.sessions.values_mut().find(|session| session.id == id)
    }

    fn change(&mut self, index: u64, operation: &Operation) {
        let Operation::Change { session, expiry_s, identity, will, presence } = operation else { return };
        let Some(session) = self.session(*session) else { return };
        session.expiry_s = expiry_s.unwrap_or(session.expiry_s);
        if let Some(identity) = identity {
            session.identity.clone_from(identity);
        }
        if let Some(will) = will {
            session.will = will.as_ref().map(|will| will_ref(index, will));
        }
        if let Some((connected, at_ms)) = presence {
            session.disconnected_at_ms = (!connected).then_some(*at_ms);
            session.away_since = (!connected).then_some(session.away_since.unwrap_or(index));
        }
    }

    fn publish(&mut self, index: u64, operation: &Operation) {
        let Operation::Publish { keepers, groups, retained, origin, .. } = operation else { return };
        for (id, options) in keepers {
            if let Some(session) = self.session(*id) {
                session.queue.entry(index).or_insert_with(|| options.clone());
            }
        }
        for group in self.picture.groups.values_mut().filter(|group| groups.contains(&group.id)) {
            group.queue.push(index);
        }
        if let Some(topic) = retained {
            self.picture.retained.insert(topic.clone(), index);
        }
        if let Some(origin) = origin {
            let publisher = (origin.data_group, origin.session.0);
            self.settle(publisher, origin.settled);
            if origin.use_number >= self.settled[&publisher] {
                let (group, session) = publisher;
                let place = self.picture.unsettled.entry((group, session, origin.use_number));
                place.or_insert((origin.packet_id, index));
            }
        }
    }

    fn settle(&mut self, publisher: (u16, u64), below: u64) {
        let settled = self.settled.entry(publisher).or_default();
        *settled = below.max(*settled);
        self.picture
            .unsettled
            .retain(|(data_group, id, number), _| (*data_group, *id) != publisher || *number >= below);
    }

    fn settle_all(&mut self, publishers: &[SettledPublisher]) {
        for one in publishers {
            let publisher = (one.data_group, one.session.0);
            if self.settled.contains_key(&publisher) {
                self.settle(publisher, one.below);
            }
            if !self.picture.unsettled.keys().any(|(data_group, id, _)| (*data_group, *id) == publisher) {
                self.settled.remove(&publisher);
            }
        }
    }

    fn note(&mut self, id: u64, fact: Fact) {
        if let Some(group) = self.picture.groups.values_mut().find(|group| group.id == id) {
            if let Fact::Finished { entry } = fact {
                group.queue.retain(|queued| *queued != entry);
            }
            return;
        }
        let Some(session) = self.session(id) else { return };
        match fact {
            Fact::Finished { entry } => {
                session.queue.remove(&entry);
                session.flights.remove(&entry);
            }
            Fact::PublishSent { packet_id, entry } if session.queue.contains_key(&entry) => {
                session.flights.retain(|_, flight| flight.0 != packet_id);
                session.flights.insert(entry, (packet_id, false));
            }
            Fact::PublishSent { .. } => {}
            Fact::PubRecReceived { packet_id } => {
                let found = session.flights.iter_mut().find(|(_, flight)| flight.0 == packet_id);
                if let Some((entry, flight)) = found {
                    flight.1 = true;
                    session.queue.remove(entry);
                }
            }
            Fact::Received { packet_id, use_number } => {
                session.doubted.remove(&packet_id);
                session.received.insert(packet_id, use_number);
                session.next_use = session.next_use.max(use_number + 1);
            }
            Fact::Doubted { packet_id, use_number } => {
                session.received.remove(&packet_id);
                session.doubted.insert(packet_id, use_number);
                session.next_use = session.next_use.max(use_number + 1);
            }
            Fact::Released { packet_id } => {
                session.received.remove(&packet_id);
                session.doubted.remove(&packet_id);
            }
        }
    }
}

fn will_ref(entry: u64, will: &OwnWill) -> WillRef {
    WillRef { entry, delay_s: will.delay_s, message_expiry_s: will.message_expiry_s }
}
