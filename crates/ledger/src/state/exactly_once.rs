//! Packet ids of QoS 2, in both directions.

use rustc_hash::FxHashMap;

/// A QoS 2 message under way to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The packet id that it was sent under.
    pub packet_id: u16,
    /// The entry that brought it.
    pub entry: u64,
    /// PUBREC has come: the client has the message, it is not in the queue any more, PUBREL is to be sent.
    pub pubrec_received: bool,
}

/// Flights to the client, and messages of the client that it has not released.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactlyOnce {
    by_id: FxHashMap<u16, Flight>,
    /// Entry -> packet id, of the same flights.
    by_entry: FxHashMap<u64, u16>,
    /// Packet id -> use number.
    received: FxHashMap<u16, u64>,
    /// Of messages in doubt: packet id -> use number. An id is in one of both at most.
    doubted: FxHashMap<u16, u64>,
}

impl ExactlyOnce {
    /// A message was sent. One that had this packet id before, or an id that this message had before, is forgotten.
    pub(crate) fn publish_sent(&mut self, packet_id: u16, entry: u64) {
        self.insert(Flight { packet_id, entry, pubrec_received: false });
    }

    pub(crate) fn insert(&mut self, flight: Flight) {
        if let Some(before) = self.by_id.insert(flight.packet_id, flight) {
            self.by_entry.remove(&before.entry);
        }
        if let Some(before) = self.by_entry.insert(flight.entry, flight.packet_id)
            && before != flight.packet_id
        {
            self.by_id.remove(&before);
        }
    }

    /// PUBREC came for a flight; its entry, when there is such a flight and it is the first one.
    pub(crate) fn pubrec_received(&mut self, packet_id: u16) -> Option<u64> {
        let flight = self.by_id.get_mut(&packet_id).filter(|flight| !flight.pubrec_received)?;
        flight.pubrec_received = true;
        Some(flight.entry)
    }

    /// The message is done; false when it is not under way.
    pub(crate) fn finish(&mut self, entry: u64) -> bool {
        let Some(packet_id) = self.by_entry.remove(&entry) else { return false };
        self.by_id.remove(&packet_id);
        true
    }

    pub(crate) fn receive(&mut self, packet_id: u16, use_number: u64) {
        self.doubted.remove(&packet_id);
        self.received.insert(packet_id, use_number);
    }

    pub(crate) fn doubt(&mut self, packet_id: u16, use_number: u64) {
        self.received.remove(&packet_id);
        self.doubted.insert(packet_id, use_number);
    }

    /// False when it was neither received nor in doubt.
    pub(crate) fn release(&mut self, packet_id: u16) -> bool {
        self.received.remove(&packet_id).is_some() | self.doubted.remove(&packet_id).is_some()
    }

    /// By entry: in the order in which they were sent.
    pub(crate) fn flights(&self) -> Vec<Flight> {
        let mut flights: Vec<_> = self.by_id.values().copied().collect();
        flights.sort_unstable_by_key(|flight| flight.entry);
        flights
    }

    /// Packet ids and use numbers, by use number.
    pub(crate) fn received(&self) -> Vec<(u16, u64)> {
        by_number(&self.received)
    }

    /// The same of messages in doubt.
    pub(crate) fn doubted(&self) -> Vec<(u16, u64)> {
        by_number(&self.doubted)
    }
}

fn by_number(ids: &FxHashMap<u16, u64>) -> Vec<(u16, u64)> {
    let mut ids: Vec<_> = ids.iter().map(|(packet_id, number)| (*packet_id, *number)).collect();
    ids.sort_unstable_by_key(|(packet_id, number)| (*number, *packet_id));
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a packet id, and an entry, have one flight at a time?
    #[test]
    fn ids_and_entries_go_together() {
        let mut ids = ExactlyOnce::default();
        ids.publish_sent(7, 100);
        ids.publish_sent(8, 101);
        ids.publish_sent(7, 102);
        assert_eq!(ids.pubrec_received(7), Some(102));
        assert_eq!((ids.pubrec_received(7), ids.finish(100)), (None, false));
        ids.publish_sent(9, 101);
        assert_eq!((ids.pubrec_received(8), ids.pubrec_received(9)), (None, Some(101)));
        assert_eq!(ids.flights().iter().map(|flight| flight.entry).collect::<Vec<_>>(), [101, 102]);
        assert!(ids.finish(102) && ids.finish(101) && ids.flights().is_empty() && ids.by_entry.is_empty());
    }
}
