//! What is counted of MQTT-SN; written by its thread alone.

use lapwing_sn::Reason;

use super::seals::SealCounters;
use crate::metrics::{Counter, Gauge, Metric};

/// Why a datagram that came is nothing, or a message does not go out, beside what is wrong with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// It does not belong there: a gateway's message, or one of a set-up that there is not.
    OutOfState,
    /// By the code of the specification.
    Refused,
    /// Nobody is connected at that address.
    Unknown,
    /// The address has sent `datagrams_per_turn_max` in this turn.
    TurnFull,
    /// There is no place for a client more.
    ClientsFull,
    /// The address connects faster than it may.
    AddressRate,
    /// QoS -1 to a topic that is not in `publish_without_connect`.
    NotForNobody,
    /// The client's connection takes no more: the broker holds it back.
    Congested,
    /// A message is larger than a datagram.
    TooLargeOut,
    /// A message whose client has ids for `registrations_max` topics.
    TopicsFull,
    /// A message of QoS 0 beyond `waiting_messages_max`.
    WaitingFull,
    /// A message that the client has refused.
    ByClient,
    /// The kernel has not taken it, or the connection of DTLS that it was for is over.
    NotSent,
    /// The will of a client that is gone, for one that went later: `wills_kept_max`.
    WillsFull,
    /// More would go to an address than came from it, before it has shown that it is there.
    Unproven,
    /// There are as many first hellos in this turn as are looked at.
    HellosFull,
    /// As many handshakes as there may be are not done.
    HandshakesFull,
    /// The same of one address.
    HandshakesOfAddress,
    /// A CONNECT that nothing came after: its session was not opened.
    Unanswered,
    /// A message of QoS 0 that waited for a client which is gone, or began anew.
    ClientGone,
}

const DROPPED: [(Dropped, &str); 20] = [
    (Dropped::OutOfState, "out_of_state"),
    (Dropped::Refused, "refused"),
    (Dropped::Unknown, "not_connected"),
    (Dropped::TurnFull, "datagrams_per_turn_max"),
    (Dropped::ClientsFull, "connections_max"),
    (Dropped::AddressRate, "address_rate"),
    (Dropped::NotForNobody, "publish_without_connect"),
    (Dropped::Congested, "congested"),
    (Dropped::TooLargeOut, "too_large_to_send"),
    (Dropped::TopicsFull, "registrations_max"),
    (Dropped::WaitingFull, "waiting_messages_max"),
    (Dropped::ByClient, "refused_by_client"),
    (Dropped::NotSent, "not_sent"),
    (Dropped::WillsFull, "wills_kept_max"),
    (Dropped::Unproven, "unproven_address"),
    (Dropped::HellosFull, "hellos_per_turn"),
    (Dropped::HandshakesFull, "handshakes_max"),
    (Dropped::HandshakesOfAddress, "handshakes_per_address_max"),
    (Dropped::Unanswered, "unanswered"),
    (Dropped::ClientGone, "client_gone"),
];

/// Counters of the thread.
#[derive(Debug, Default)]
pub(crate) struct SnCounters {
    pub(super) datagrams_in: Counter,
    pub(super) datagrams_out: Counter,
    pub(super) overflowed: Counter,
    pub(super) retransmissions: Counter,
    pub(super) without_connect: Counter,
    pub(super) lost: Counter,
    pub(super) clients: Gauge,
    pub(super) asleep: Gauge,
    pub(super) seals: SealCounters,
    malformed: [Counter; Reason::ALL.len()],
    dropped: [Counter; DROPPED.len()],
}

impl SnCounters {
    /// Bytes that are no message.
    pub(super) fn malformed(&self, reason: Reason) {
        self.malformed[reason as usize].add(1);
    }

    pub(super) fn dropped(&self, why: Dropped) {
        self.dropped_many(why, 1);
    }

    pub(super) fn dropped_many(&self, why: Dropped, count: u64) {
        self.dropped[why as usize].add(count);
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let dropped = "Datagrams of MQTT-SN, and messages for its clients, that went no further, by reason.";
        let mut metrics = vec![
            Metric::gauge("lapwing_sn_clients", "Clients of MQTT-SN, by address.", self.clients.get()),
            Metric::gauge("lapwing_sn_clients_asleep", "Of these, those that sleep.", self.asleep.get()),
            Metric::counter("lapwing_sn_datagrams_in_total", "Datagrams received.", self.datagrams_in.get()),
            Metric::counter("lapwing_sn_datagrams_out_total", "Datagrams sent.", self.datagrams_out.get()),
            Metric::counter(
                "lapwing_sn_datagrams_overflowed_total",
                "Datagrams that the kernel had no room for, because they came faster than they were taken; asked once a second.",
                self.overflowed.get(),
            ),
            Metric::counter(
                "lapwing_sn_retransmissions_total",
                "Messages sent again to clients of MQTT-SN that had not answered within the listener's retry.",
                self.retransmissions.get(),
            ),
            Metric::counter(
                "lapwing_sn_published_without_connect_total",
                "Messages of QoS -1 that were taken.",
                self.without_connect.get(),
            ),
            Metric::counter(
                "lapwing_sn_clients_lost_total",
                "Clients of MQTT-SN that were not heard in time, or did not answer.",
                self.lost.get(),
            ),
        ];
        let by = |reason: &'static str, count: &Counter| {
            Metric::counter("lapwing_sn_dropped_total", dropped, count.get()).with("reason", reason)
        };
        metrics.extend(Reason::ALL.iter().zip(&self.malformed).map(|(reason, count)| by(reason.name(), count)));
        metrics.extend(DROPPED.iter().zip(&self.dropped).map(|((_, name), count)| by(name, count)));
        metrics.extend(self.seals.metrics());
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has each reason its own place, in its order, and its own name?
    #[test]
    fn each_reason_is_counted_by_itself() {
        assert!(DROPPED.iter().enumerate().all(|(n, (why, _))| *why as usize == n));
        assert!(Reason::ALL.iter().enumerate().all(|(n, reason)| *reason as usize == n));
        let counters = SnCounters::default();
        counters.malformed(Reason::Malformed);
        counters.dropped(Dropped::NotSent);
        let metrics = counters.metrics();
        let dropped = metrics.iter().filter(|metric| metric.name == "lapwing_sn_dropped_total");
        let mut names: Vec<_> = dropped.flat_map(|metric| &metric.labels).map(|(_, name)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), DROPPED.len() + Reason::ALL.len());
        let is_one = |name: &str| metrics.iter().any(|m| m.labels.iter().any(|l| l.1 == name) && m.value == 1.0);
        assert!(is_one("malformed") && is_one("not_sent"));
    }
}
