//! A log of which a crash leaves what was synced, and any part of the rest from its front.

use std::collections::BTreeMap;

use lapwing_codec::QoS;
use lapwing_session::{Fact, Origin};

/// One entry; its index is its place, from 1.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// The session begins: the first entry of its own log.
    Opened,
    /// Message number `n`; in the session's own log because the session keeps it.
    Published { n: u32, qos: QoS, origin: Option<Origin> },
    /// What the session has told.
    Fact(Fact),
    /// Its client has come, or gone.
    Presence { connected: bool },
}

/// The entries, and how many of them are durable.
#[derive(Debug, Default)]
pub struct Log {
    pub records: Vec<Record>,
    pub durable: usize,
}

impl Log {
    pub fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    /// So many more records are durable.
    pub fn sync(&mut self, records: usize) {
        self.durable = self.durable.saturating_add(records).min(self.records.len());
    }

    /// A crash leaves so many records that were not synced.
    pub fn cut(&mut self, left: usize) {
        self.sync(left);
        self.records.truncate(self.durable);
    }

    /// What a target remembers of one session's QoS 2 messages: by use number, until they are settled.
    pub fn unsettled(&self) -> BTreeMap<u64, (u32, Origin)> {
        let mut unsettled = BTreeMap::new();
        for record in &self.records {
            if let Record::Published { n, origin: Some(origin), .. } = record {
                unsettled = unsettled.split_off(&origin.settled);
                unsettled.insert(origin.use_number, (*n, *origin));
            }
        }
        unsettled
    }

    /// All lower numbers are settled, as far as this target was told.
    pub fn settled(&self) -> u64 {
        let origins = self.records.iter().filter_map(|record| match record {
            Record::Published { origin, .. } => *origin,
            Record::Opened | Record::Fact(_) | Record::Presence { .. } => None,
        });
        origins.map(|origin| origin.settled).max().unwrap_or_default()
    }

    /// Whether it has this use, or calls it settled.
    pub fn knows(&self, use_number: u64) -> bool {
        use_number < self.settled() || self.unsettled().contains_key(&use_number)
    }

    /// The messages of QoS 2 in the order in which they came here for the first time.
    pub fn order(&self) -> Vec<u32> {
        let mut order = Vec::new();
        for record in &self.records {
            if let Record::Published { n, qos: QoS::ExactlyOnce, .. } = record
                && !order.contains(n)
            {
                order.push(*n);
            }
        }
        order
    }

    /// How often it has message `n`.
    pub fn count(&self, n: u32) -> usize {
        let is_it = |record: &&Record| matches!(record, Record::Published { n: other, .. } if *other == n);
        self.records.iter().filter(is_it).count()
    }
}
