//! What one shard holds, by what it is for.

use std::sync::atomic::{AtomicI64, Ordering};

/// What memory is for.
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Bodies that somebody keeps: queued, unacknowledged, retained, wills; one kept by many counts once.
    Messages,
    /// Places in queues and windows.
    Waiting,
    /// Input and output buffers of connections.
    Buffers,
    /// Sessions and connections themselves.
    Clients,
    /// Subscriptions, in all tables that they stand in.
    Subscriptions,
    /// Records on their way to the log.
    Log,
}

impl Part {
    const COUNT: usize = 6;
    /// Every part with its label, in the order of the variants.
    pub(crate) const ALL: [(Part, &'static str); Self::COUNT] = [
        (Part::Messages, "messages"),
        (Part::Waiting, "waiting"),
        (Part::Buffers, "buffers"),
        (Part::Clients, "clients"),
        (Part::Subscriptions, "subscriptions"),
        (Part::Log, "log"),
    ];
}

/// One shard's bytes, on cache lines of their own; only that shard writes them.
#[repr(align(128))]
#[derive(Debug, Default)]
pub(crate) struct Account([AtomicI64; Part::COUNT]);

impl Account {
    pub(crate) fn set(&self, part: Part, bytes: i64) {
        self.0[part as usize].store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, part: Part) -> i64 {
        self.0[part as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn sum(&self) -> i64 {
        self.0.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each part find its own place and label?
    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        let account = Account::default();
        for (n, (part, _)) in Part::ALL.iter().enumerate() {
            assert_eq!(*part as usize, n);
            account.set(*part, 1 << n);
        }
        assert_eq!(account.sum(), (1 << Part::COUNT) - 1);
    }
}
