//! What one thread, or one process, has counted; adds up to that of the whole run.

use crate::latency::Latencies;
use crate::serials::Serials;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Raw figures of a part of a run. Times are this machine's monotonic clock, in nanoseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Clients connected.
    pub clients: u64,
    /// Threads.
    pub threads: u64,
    /// How long all clients of one process took to connect and subscribe.
    pub ready_after_ns: u64,
    /// From the first SYN to CONNACK, per client.
    pub connect: Latencies,
    /// Messages handed to a connection.
    pub sent: u64,
    /// Arrivals that these should bring about.
    pub expected: u64,
    /// QoS 1 and 2 messages the broker has taken.
    pub acknowledged: u64,
    /// QoS 1 and 2 messages the broker has answered with an error.
    pub rejected: u64,
    /// Messages that were due and never sent, because a connection was gone or never had room.
    pub unsent: u64,
    /// Arrivals, repeats included.
    pub received: u64,
    /// Bytes of payload that arrived.
    pub received_bytes: u64,
    /// Different messages that arrived, per receiver (per group when shared).
    pub unique: u64,
    /// Arrivals of what had arrived.
    pub duplicates: u64,
    /// Arrivals after something that was sent later.
    pub reordered: u64,
    /// Arrivals that are not from this run, or at the wrong receiver.
    pub foreign: u64,
    /// From due time to arrival.
    pub latency: Latencies,
    /// Sleepers that awoke.
    pub wakes: u64,
    /// From PINGREQ to PINGRESP of each that got all that waited.
    pub drain: Latencies,
    /// When the first awoke; 0: nobody has.
    pub first_woke_ns: u64,
    /// When the last had got all that waited.
    pub last_drained_ns: u64,
    /// From due time to the broker's last answer.
    pub answer: Latencies,
    /// From due time to when the schedule came to the message, held back then or not: the generator's own lateness.
    pub late: Latencies,
    /// Messages that a full window or socket held back beyond their due time.
    pub held: u64,
    /// When the first message was due.
    pub started_ns: u64,
    /// When the last message was handed over.
    pub last_sent_ns: u64,
    /// When the last message arrived or was answered.
    pub last_heard_ns: u64,
    /// CPU time of the swarm from the start to the end of traffic.
    pub swarm_cpu_ns: u64,
    /// CPU time of the broker from the start to the end of traffic, if asked for.
    pub broker_cpu_ns: Option<u64>,
    /// Shared group: what arrived at any member, per publisher.
    pub group: Vec<Serials>,
    /// Connections lost and the like, by kind.
    pub errors: BTreeMap<String, u64>,
}

impl Outcome {
    /// Counts an error under its short name.
    pub fn count_error(&mut self, label: String) {
        *self.errors.entry(label).or_default() += 1;
    }

    /// Adds another part of the same run.
    pub fn merge(&mut self, other: &Self) {
        self.clients += other.clients;
        self.threads += other.threads;
        self.ready_after_ns = self.ready_after_ns.max(other.ready_after_ns);
        self.connect.add(&other.connect);
        self.merge_sending(other);
        self.merge_hearing(other);
        self.started_ns = if self.started_ns == 0 { other.started_ns } else { self.started_ns };
        self.last_sent_ns = self.last_sent_ns.max(other.last_sent_ns);
        self.last_heard_ns = self.last_heard_ns.max(other.last_heard_ns);
        self.swarm_cpu_ns += other.swarm_cpu_ns;
        self.broker_cpu_ns = self.broker_cpu_ns.max(other.broker_cpu_ns);
        for (label, count) in &other.errors {
            *self.errors.entry(label.clone()).or_default() += count;
        }
    }

    fn merge_sending(&mut self, other: &Self) {
        self.sent += other.sent;
        self.expected += other.expected;
        self.acknowledged += other.acknowledged;
        self.rejected += other.rejected;
        self.unsent += other.unsent;
        self.answer.add(&other.answer);
        self.late.add(&other.late);
        self.held += other.held;
    }

    fn merge_hearing(&mut self, other: &Self) {
        self.received += other.received;
        self.received_bytes += other.received_bytes;
        self.unique += other.unique;
        self.duplicates += other.duplicates;
        self.reordered += other.reordered;
        self.foreign += other.foreign;
        self.latency.add(&other.latency);
        self.merge_sleeping(other);
        if self.group.len() < other.group.len() {
            self.group.resize(other.group.len(), Serials::default());
        }
        // What two members in different threads both got was counted as new by each.
        let twice: u64 = self.group.iter_mut().zip(&other.group).map(|(ours, theirs)| ours.merge(theirs)).sum();
        self.unique -= twice;
        self.duplicates += twice;
    }

    fn merge_sleeping(&mut self, other: &Self) {
        self.wakes += other.wakes;
        self.drain.add(&other.drain);
        let woke = [self.first_woke_ns, other.first_woke_ns];
        self.first_woke_ns = woke.into_iter().filter(|ns| *ns > 0).min().unwrap_or(0);
        self.last_drained_ns = self.last_drained_ns.max(other.last_drained_ns);
    }

    /// Messages sent that were never answered; at QoS 0, where nothing is, all of them.
    pub fn unacknowledged(&self) -> u64 {
        self.sent.saturating_sub(self.acknowledged + self.rejected)
    }

    /// Messages that should have arrived and did not.
    pub fn lost(&self) -> u64 {
        self.expected.saturating_sub(self.unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(serials: &[u32]) -> Outcome {
        let mut books = Serials::default();
        for serial in serials {
            books.record(*serial);
        }
        let unique = serials.len() as u64;
        Outcome { unique, received: unique, group: vec![books], ..Default::default() }
    }

    /// Is a message that two members of a shared group got, in two threads, one message and one repeat?
    #[test]
    fn shared_group_over_threads() {
        let mut whole = Outcome { expected: 5, ..Default::default() };
        whole.merge(&member(&[0, 2]));
        whole.merge(&member(&[1, 2, 3]));
        assert_eq!((whole.unique, whole.duplicates, whole.received, whole.lost()), (4, 1, 5, 1));
    }
}
