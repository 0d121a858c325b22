//! Holds as metrics: what waits for a first subscriber, and what became of it.

use std::sync::Arc;

use super::{Counter, Gauge, Metric};

/// Counters of one hold. Written by the shard that owns it.
#[derive(Debug, Default)]
pub(crate) struct HoldCounters {
    pub(crate) waiting_messages: Gauge,
    pub(crate) waiting_bytes: Gauge,
    /// Messages of its topics, whether somebody subscribed or not.
    pub(crate) received: Counter,
    /// Given to subscribers.
    pub(crate) released: Counter,
    /// Waited too long, or their own time was over.
    pub(crate) expired: Counter,
    /// Gave way, or were not taken, because so many waited.
    pub(crate) overflowed: Counter,
    /// Not taken because memory was above `memory_max_bytes`.
    pub(crate) memory_full: Counter,
}

impl HoldCounters {
    /// Messages dropped, by reason.
    fn drops(&self) -> [(&'static str, &Counter); 3] {
        [("expired", &self.expired), ("overflow", &self.overflowed), ("memory_full", &self.memory_full)]
    }

    /// Messages dropped for any reason.
    pub(crate) fn dropped_in_all(&self) -> u64 {
        self.drops().into_iter().map(|(_, counter)| counter.get()).sum()
    }
}

/// The metrics of all holds, each under its filter.
pub(crate) fn collect(holds: &[(&str, &Arc<HoldCounters>)]) -> Vec<Metric> {
    let mut metrics = Vec::new();
    let mut family = |of: &dyn Fn(&HoldCounters) -> Metric| {
        metrics.extend(holds.iter().map(|(filter, counters)| of(counters).with("hold", *filter)));
    };
    let (messages, bytes) = ("lapwing_hold_waiting_messages", "lapwing_hold_waiting_bytes");
    family(&|hold| Metric::gauge(messages, "Messages that wait in a hold.", hold.waiting_messages.get()));
    family(&|hold| Metric::gauge(bytes, "Bytes that wait in a hold.", hold.waiting_bytes.get()));
    let (received, released) = ("lapwing_hold_messages_received_total", "lapwing_hold_messages_released_total");
    family(&|hold| Metric::counter(received, "Messages that have come to a hold.", hold.received.get()));
    let help = "Messages of a hold that subscribers were given, at once or after they had waited.";
    family(&|hold| Metric::counter(released, help, hold.released.get()));
    for (filter, counters) in holds {
        for (reason, counter) in counters.drops() {
            let help = "Messages that a hold has dropped, by reason.";
            let metric = Metric::counter("lapwing_hold_messages_dropped_total", help, counter.get());
            metrics.push(metric.with("hold", *filter).with("reason", reason));
        }
    }
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::to_text;

    /// Does each number stand under its name and filter, and nothing without a hold?
    #[test]
    fn numbers_of_a_hold() {
        let counters = Arc::new(HoldCounters::default());
        counters.waiting_messages.set(3);
        counters.overflowed.add(2);
        let text = to_text(&collect(&[("a/#", &counters)]));
        for line in [
            "lapwing_hold_waiting_messages{hold=\"a/#\"} 3",
            "lapwing_hold_messages_released_total{hold=\"a/#\"} 0",
            "lapwing_hold_messages_dropped_total{hold=\"a/#\",reason=\"overflow\"} 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(collect(&[]).is_empty());
    }
}
