//! Reading a snapshot.

use std::sync::Arc;

use super::{
    DECLARED, DOUBTED, END, FLIGHT, GROUP, HEAD, ORIGIN, RECEIVED, REFERENCES, RETAINED, SESSION, SUBSCRIPTION,
};
use super::{VERSION, VERSION_WITHOUT_SIZES, origin_record, session_record};
use crate::bounds::DECLARATION_BYTES_MAX;
use crate::queue::{Queue, Reference};
use crate::state::NO_OPTIONS;
use crate::wire::{Input, Pack};
use crate::{
    DataGroupState, DeliveryOptions, ExactlyOnce, Fault, Flight, KeeperId, KeptGroup, KeptSession, Subscription,
};

/// Makes a state from the chunks of a snapshot.
#[derive(Debug, Default)]
pub struct Restorer {
    state: DataGroupState,
    /// The session or group that the next records belong to.
    current: Option<Current>,
    chunks: u64,
    /// Of the chunk in hand.
    version: u8,
    has_head: bool,
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
enum Current {
    Session(KeeperId),
    Group(KeeperId),
}

impl Restorer {
    /// Before the first chunk.
    pub fn new() -> Self {
        Restorer::default()
    }

    /// The next chunk, in the order in which they were written.
    /// # Errors
    /// `Version`, `Malformed`, `TooLong`, `Snapshot`; this restorer is of no use then.
    pub fn chunk(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut input = Input::new(bytes);
        let version = input.byte("a chunk without bytes")?;
        if version != VERSION && version != VERSION_WITHOUT_SIZES {
            return Err(Fault::Version { what: "a snapshot", found: version, supported: VERSION });
        }
        self.version = version;
        if self.is_over || input.number("the number of the chunk is cut off")? != self.chunks {
            return Err(Fault::Snapshot { what: "a chunk is missing, or not in its place" });
        }
        self.chunks += 1;
        while !input.is_empty() {
            self.record(&mut input)?;
        }
        Ok(())
    }

    /// The state, when the last chunk was there. The snapshot is taken to cover it; see [`DataGroupState::covered`].
    /// # Errors
    /// `Snapshot`.
    pub fn finish(mut self) -> Result<DataGroupState, Fault> {
        if !self.is_over {
            return Err(Fault::Snapshot { what: "its end is missing" });
        }
        self.state.covered(self.state.applied);
        Ok(self.state)
    }

    fn record(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let kind = input.byte("a record is cut off")?;
        if self.is_over || (kind == HEAD) == self.has_head {
            return Err(here.fault("a record before the first, or behind the last"));
        }
        match kind {
            HEAD => self.head(input),
            SESSION => self.session(input),
            SUBSCRIPTION => self.subscription(input),
            REFERENCES => self.references(input),
            FLIGHT => self.flight(input),
            RECEIVED => self.client_use(input, ExactlyOnce::receive),
            DOUBTED => self.client_use(input, ExactlyOnce::doubt),
            GROUP => self.group(input),
            RETAINED => self.retained(input),
            ORIGIN => self.origin(input),
            END => self.end(input),
            DECLARED => self.declared(input),
            _ => Err(here.fault("an unknown kind of record")),
        }
    }

    fn head(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        self.has_head = true;
        let here = *input;
        self.state.applied = input.number("the last index is cut off")?;
        if self.state.applied > crate::bounds::INDEX_MAX {
            return Err(here.fault("an index beyond the largest"));
        }
        self.state.strays = input.number("the strays are cut off")?;
        Ok(())
    }

    fn session(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let session = session_record::take(input)?;
        let id = session.id;
        self.check_new(id, here)?;
        session.away.map_or(Ok(()), |away| self.check_entry(away.entry, here))?;
        if let Some(will) = session.will {
            self.check_entry(will.entry, here)?;
            self.state.live.add(will.entry, 1);
        }
        if self.state.client_ids.insert(session.client_id.clone(), id).is_some() {
            return Err(here.fault("two sessions of one client"));
        }
        self.state.sessions.insert(id, Arc::new(session));
        self.current = Some(Current::Session(id));
        Ok(())
    }

    fn group(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let id = KeeperId::take(input)?;
        self.check_new(id, here)?;
        let (name, filter) = (<&str>::take(input)?, <&str>::take(input)?);
        if self.state.group_names.insert((name.into(), filter.into()), id).is_some() {
            return Err(here.fault("two consumer groups of one name and filter"));
        }
        self.state.groups.insert(id, Arc::new(KeptGroup::new(id, name, filter)));
        self.current = Some(Current::Group(id));
        Ok(())
    }

    fn declared(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let what = "the settings of a consumer group are cut off or too long";
        let settings = input.bytes(DECLARATION_BYTES_MAX, what)?;
        let group = match self.current {
            Some(Current::Group(id)) => DataGroupState::group_mut(&mut self.state.groups, id),
            _ => None,
        };
        group.ok_or(here.fault("a record without its consumer group"))?.settings = Some(settings.into());
        Ok(())
    }

    /// The id of a session or group is the index of an entry, and nobody else's.
    fn check_new(&self, id: KeeperId, here: Input<'_>) -> Result<(), Fault> {
        self.check_entry(id.0, here)?;
        if self.state.sessions.contains_key(&id) || self.state.groups.contains_key(&id) {
            return Err(here.fault("two sessions or groups of one id"));
        }
        Ok(())
    }

    fn check_entry(&self, entry: u64, here: Input<'_>) -> Result<(), Fault> {
        if (1..=self.state.applied).contains(&entry) {
            return Ok(());
        }
        Err(here.fault("an index that the state has not come to"))
    }

    fn current_session(&mut self, here: Input<'_>) -> Result<&mut KeptSession, Fault> {
        match self.current {
            Some(Current::Session(id)) => DataGroupState::session_mut(&mut self.state.sessions, id),
            _ => None,
        }
        .ok_or(here.fault("a record without its session"))
    }

    fn subscription(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let Subscription { filter, grant } = Subscription::take(input)?;
        self.current_session(here)?.subscriptions.insert(filter.into(), grant);
        Ok(())
    }

    fn references(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let count = input.count("the number of references is cut off or impossible")?;
        let mut reference = Reference { entry: 0, options: NO_OPTIONS, units: 0 };
        for _ in 0..count {
            let here = *input;
            let number = input.number("a reference is cut off")?;
            if number & 1 != 0 {
                reference.options = DeliveryOptions::take(input)?;
                reference.units = self.take_units(input)?;
            }
            // Neither is above half of the largest number.
            reference.entry += number >> 1;
            self.check_entry(reference.entry, here)?;
            self.reference(&reference, here)?;
        }
        Ok(())
    }

    /// The size of a frame.
    fn take_units(&self, input: &mut Input<'_>) -> Result<u64, Fault> {
        if self.version == VERSION_WITHOUT_SIZES {
            return Ok(0);
        }
        // No frame is as large as this.
        Ok(u64::from(input.number_u32("the size of a message is cut off or too large")?))
    }

    fn reference(&mut self, reference: &Reference<'_>, here: Input<'_>) -> Result<(), Fault> {
        let queue: Option<&mut Queue> = match self.current {
            Some(Current::Session(id)) => {
                DataGroupState::session_mut(&mut self.state.sessions, id).map(|session| &mut session.queue)
            }
            Some(Current::Group(id)) => {
                DataGroupState::group_mut(&mut self.state.groups, id).map(|group| &mut group.queue)
            }
            None => None,
        };
        let queue = queue.ok_or(here.fault("references that are nobody's"))?;
        if !queue.push(reference) {
            return Err(here.fault("references that do not ascend"));
        }
        self.state.queued += 1;
        self.state.live.add(reference.entry, 1);
        Ok(())
    }

    fn flight(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let what = "a flight is cut off or impossible";
        let (packet_id, entry) = (input.number_u16(what)?, input.number(what)?);
        let flight = Flight { packet_id, entry, pubrec_received: take_bool(input, what)? };
        self.current_session(here)?.exactly_once().insert(flight);
        Ok(())
    }

    /// A packet id that the client uses.
    fn client_use(&mut self, input: &mut Input<'_>, put: fn(&mut ExactlyOnce, u16, u64)) -> Result<(), Fault> {
        let here = *input;
        let what = "a packet id or use number is cut off or impossible";
        let (packet_id, use_number) = (input.number_u16(what)?, input.number(what)?);
        put(self.current_session(here)?.exactly_once(), packet_id, use_number);
        Ok(())
    }

    fn retained(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let topic = <&str>::take(input)?;
        let entry = input.number("the entry of a retained message is cut off")?;
        self.check_entry(entry, here)?;
        if self.state.retained.insert(topic.into(), entry).is_some() {
            return Err(here.fault("two retained messages of one topic"));
        }
        self.state.live.add(entry, 1);
        Ok(())
    }

    fn origin(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let here = *input;
        let (publisher, uses) = origin_record::take(input)?;
        let entries = uses.list.iter().map(|unsettled| unsettled.entry).chain([uses.named_in]);
        entries.into_iter().try_for_each(|entry| self.check_entry(entry, here))?;
        if !self.state.origins.restore(publisher, uses) {
            return Err(here.fault("two publishers of one id, or last named in one entry"));
        }
        Ok(())
    }

    fn end(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        if input.number("the number of chunks is cut off")? != self.chunks {
            return Err(Fault::Snapshot { what: "a chunk is missing, or not in its place" });
        }
        self.is_over = true;
        Ok(())
    }
}

fn take_bool(input: &mut Input<'_>, what: &'static str) -> Result<bool, Fault> {
    let here = *input;
    match input.number(what)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(here.fault(what)),
    }
}
