//! Writing a snapshot.

use super::{
    DECLARED, DOUBTED, END, FLIGHT, GROUP, HEAD, ORIGIN, RECEIVED, REFERENCES, RETAINED, SESSION, SUBSCRIPTION, VERSION,
};
use super::{origin_record, session_record};
use crate::bounds::DECLARATION_BYTES_MAX;
use crate::queue::{Queue, Reference};
use crate::wire::{Pack, put_bytes, put_number, put_text};
use crate::{DataGroupState, Fault, FrozenState, KeptGroup, KeptSession, Subscription};

/// A chunk that has so many bytes goes.
const CHUNK_BYTES: usize = 64 << 10;
/// References of one record.
const REFERENCES_MAX: usize = 256;

struct Writer<'s, F> {
    chunk: Vec<u8>,
    /// Chunks that went.
    written: u64,
    sink: &'s mut F,
}

impl DataGroupState {
    /// Writes all of it, as [`FrozenState::write`] does. The state stands still meanwhile.
    /// # Errors
    /// What `sink` returned: then the snapshot is of no use.
    pub fn snapshot<E>(&self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.freeze().write(sink)
    }
}

impl FrozenState {
    /// Writes all of it, in chunks of about 64 KiB (more when a single record is longer). Give each to
    /// [`Restorer::chunk`](super::Restorer::chunk) as it was; that it comes back unharmed is the caller's care. Ten million
    /// references take about a second.
    /// # Errors
    /// What `sink` returned: then the snapshot is of no use.
    pub fn write<E>(mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.sort();
        let mut writer = Writer { chunk: Vec::with_capacity(CHUNK_BYTES + 1024), written: 0, sink };
        writer.begin();
        writer.head(&self)?;
        self.sessions.iter().try_for_each(|session| writer.session(session))?;
        self.groups.iter().try_for_each(|group| writer.group(group))?;
        for (topic, entry) in &self.retained {
            writer.record(RETAINED, |out| {
                put_text(topic, "a topic", out)?;
                put_number(*entry, out);
                Ok(())
            })?;
        }
        for (publisher, uses) in &self.origins {
            writer.record(ORIGIN, |out| {
                origin_record::put(*publisher, uses, out);
                Ok(())
            })?;
        }
        writer.end()
    }

    /// One state has one snapshot.
    fn sort(&mut self) {
        self.sessions.sort_unstable_by(|one, other| one.client_id.cmp(&other.client_id));
        self.groups.sort_unstable_by(|one, other| (&one.name, &one.filter).cmp(&(&other.name, &other.filter)));
        self.origins.sort_unstable_by_key(|(_, uses)| uses.named_in);
    }
}

impl<F> Writer<'_, F> {
    fn begin(&mut self) {
        self.chunk.clear();
        self.chunk.push(VERSION);
        put_number(self.written, &mut self.chunk);
    }

    fn record<E>(&mut self, kind: u8, put: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        self.make_room()?;
        self.chunk.push(kind);
        // All of it came through a decoder, which has the same bounds.
        let result = put(&mut self.chunk);
        debug_assert_eq!(result, Ok(()));
        Ok(())
    }

    /// A chunk that is long enough goes.
    fn make_room<E>(&mut self) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        if self.chunk.len() >= CHUNK_BYTES {
            (self.sink)(&self.chunk)?;
            self.written += 1;
            self.begin();
        }
        Ok(())
    }

    fn head<E>(&mut self, state: &FrozenState) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        self.record(HEAD, |out| {
            put_number(state.applied, out);
            put_number(state.strays, out);
            Ok(())
        })
    }

    fn session<E>(&mut self, session: &KeptSession) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        self.record(SESSION, |out| session_record::put(session, out))?;
        for (filter, grant) in &session.subscriptions {
            self.record(SUBSCRIPTION, |out| Subscription { filter, grant: *grant }.put(out))?;
        }
        self.references(&session.queue)?;
        for flight in session.flights() {
            self.record(FLIGHT, |out| {
                put_number(u64::from(flight.packet_id), out);
                put_number(flight.entry, out);
                put_number(u64::from(flight.pubrec_received), out);
                Ok(())
            })?;
        }
        for (kind, uses) in [(RECEIVED, session.received()), (DOUBTED, session.doubted())] {
            for (packet_id, use_number) in uses {
                self.record(kind, |out| {
                    put_number(u64::from(packet_id), out);
                    put_number(use_number, out);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn group<E>(&mut self, group: &KeptGroup) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        self.record(GROUP, |out| {
            group.id.put(out)?;
            put_text(&group.name, "the name of a consumer group", out)?;
            put_text(&group.filter, "the filter of a consumer group", out)
        })?;
        if let Some(settings) = &group.settings {
            let what = "the settings of a consumer group";
            self.record(DECLARED, |out| put_bytes(settings, DECLARATION_BYTES_MAX, what, out))?;
        }
        self.references(&group.queue)
    }

    fn references<E>(&mut self, queue: &Queue) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        let (mut all, mut some) = (queue.iter(), Vec::with_capacity(REFERENCES_MAX.min(queue.len() as usize)));
        loop {
            some.clear();
            some.extend(all.by_ref().take(REFERENCES_MAX));
            if some.is_empty() {
                return Ok(());
            }
            self.record(REFERENCES, |out| put_references(&some, out))?;
        }
    }

    fn end<E>(mut self) -> Result<(), E>
    where
        F: FnMut(&[u8]) -> Result<(), E>,
    {
        self.make_room()?;
        self.chunk.push(END);
        put_number(self.written + 1, &mut self.chunk);
        (self.sink)(&self.chunk)
    }
}

fn put_references(references: &[Reference<'_>], out: &mut Vec<u8>) -> Result<(), Fault> {
    put_number(references.len() as u64, out);
    let (mut before, mut same_before) = (0, None);
    for Reference { entry, options, units } in references {
        let differs = same_before != Some((options, units));
        put_number((entry - before) << 1 | u64::from(differs), out);
        if differs {
            options.write(out);
            put_number(*units, out);
        }
        (before, same_before) = (*entry, Some((options, units)));
    }
    Ok(())
}
