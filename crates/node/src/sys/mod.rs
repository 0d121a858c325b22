//! The `$SYS` tree: the node's numbers as retained messages, under the names that users of Mosquitto know.
//!
//! Rules:
//! - Pure: totals and a clock in, topics with their new values out. One shard publishes them, see `shard/operators/sys.rs`.
//! - A value is published when it has changed since it was last published.
//! - Loads are per minute, averaged over the last one, five and fifteen minutes with exponential decay.

mod load;
mod totals;

use std::collections::HashMap;

use load::Load;
pub(crate) use totals::Totals;

/// The client id that the node publishes under; a client cannot have it.
pub(crate) const OURSELVES: &str = "";
/// What stands before every topic here.
const ROOT: &str = "$SYS/broker/";

type Value = fn(&Totals) -> u64;

/// Numbers as they are now.
const VALUES: [(&str, Value); 25] = [
    ("clients/connected", |t| t.connected),
    ("clients/disconnected", |t| t.offline),
    ("clients/total", |t| t.sessions),
    ("clients/maximum", |t| t.connected_max),
    ("clients/expired", |t| t.expired),
    ("clients/active", |t| t.connected),
    ("clients/inactive", |t| t.offline),
    ("messages/received", |t| t.packets_in),
    ("messages/sent", |t| t.packets_out),
    ("messages/stored", |t| t.kept_messages),
    ("store/messages/count", |t| t.kept_messages),
    ("store/messages/bytes", |t| t.kept_bytes),
    ("publish/messages/received", |t| t.publishes_in),
    ("publish/messages/sent", |t| t.publishes_out),
    ("publish/messages/dropped", |t| t.dropped),
    ("publish/bytes/received", |t| t.publish_bytes_in),
    ("publish/bytes/sent", |t| t.publish_bytes_out),
    ("bytes/received", |t| t.bytes_in),
    ("bytes/sent", |t| t.bytes_out),
    ("subscriptions/count", |t| t.subscriptions),
    ("shared_subscriptions/count", |t| t.shared_subscriptions),
    ("retained messages/count", |t| t.retained),
    ("retained messages/bytes", |t| t.retained_bytes),
    ("heap/current", |t| t.memory),
    ("heap/maximum", |t| t.memory_max),
];

/// Numbers that only grow, of which the load is shown.
const LOADS: [(&str, Value); 9] = [
    ("load/messages/received", |t| t.packets_in),
    ("load/messages/sent", |t| t.packets_out),
    ("load/publish/received", |t| t.publishes_in),
    ("load/publish/sent", |t| t.publishes_out),
    ("load/publish/dropped", |t| t.dropped),
    ("load/bytes/received", |t| t.bytes_in),
    ("load/bytes/sent", |t| t.bytes_out),
    ("load/sockets", |t| t.accepted),
    ("load/connections", |t| t.opened),
];

/// What was published last.
pub(crate) struct Board {
    published: HashMap<String, String>,
    loads: [Load; LOADS.len()],
    looked_at_ms: Option<u64>,
}

impl Board {
    pub(crate) fn new() -> Self {
        Board { published: HashMap::new(), loads: Default::default(), looked_at_ms: None }
    }

    /// The topics whose values have changed, with the new ones. `now_ms`: since the node's start.
    pub(crate) fn update(&mut self, totals: &Totals, now_ms: u64) -> Vec<(String, String)> {
        let mut all = vec![
            ("version".to_owned(), concat!("lapwing ", env!("CARGO_PKG_VERSION")).to_owned()),
            ("uptime".to_owned(), format!("{} seconds", now_ms / 1000)),
        ];
        all.extend(VALUES.iter().map(|(name, value)| ((*name).to_owned(), value(totals).to_string())));
        let passed_ms = self.looked_at_ms.replace(now_ms).map_or(0, |before_ms| now_ms.saturating_sub(before_ms));
        for (load, (name, value)) in self.loads.iter_mut().zip(LOADS) {
            load.advance(value(totals), passed_ms);
            all.extend(load.per_minute().map(|(span, rate)| (format!("{name}/{span}"), format!("{rate:.2}"))));
        }
        all.retain(|(name, value)| self.published.get(name) != Some(value));
        for (name, value) in &all {
            self.published.insert(name.clone(), value.clone());
        }
        all.into_iter().map(|(name, value)| (format!("{ROOT}{name}"), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is everything published at first, and later only what has changed?
    #[test]
    fn only_changes_are_published() {
        let mut board = Board::new();
        let first = board.update(&Totals::default(), 0);
        assert_eq!(first.len(), 2 + VALUES.len() + 3 * LOADS.len());
        assert!(first.iter().all(|(topic, _)| lapwing_access::is_reserved(topic)));
        let totals = Totals { connected: 3, ..Totals::default() };
        let changed: Vec<(String, String)> = board.update(&totals, 10_000);
        let expected = [("uptime", "10 seconds"), ("clients/connected", "3"), ("clients/active", "3")];
        assert_eq!(changed, expected.map(|(name, value)| (format!("{ROOT}{name}"), value.to_owned())));
        assert!(board.update(&totals, 10_500).is_empty());
    }

    /// Does a steady rate become the load, quickly over one minute and slowly over fifteen?
    #[test]
    fn loads_follow_the_rate() {
        let mut board = Board::new();
        let mut load = HashMap::new();
        for step in 0..=30_u64 {
            let totals = Totals { bytes_in: step * 1000, ..Totals::default() };
            load.extend(board.update(&totals, step * 10_000));
        }
        let of = |span: &str| load[&format!("{ROOT}load/bytes/received/{span}")].parse::<f64>().unwrap();
        assert!((of("1min") - 6000.0).abs() < 100.0 && of("5min") < of("1min") && of("15min") < of("5min"));
        assert!(of("15min") > 1000.0);
    }
}
