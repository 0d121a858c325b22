//! What members say of themselves, and what the kernel says of the way to them, on its way to their groups' owners.

use lapwing_codec::{Connect, Packet, Publish, QoS};
use lapwing_dispatch::{Report, RttSource};
use lapwing_session::{Accepted, Grant, Inbound, Routed, Session, SessionKey};

use super::Shard;
use crate::shard::Due;
use crate::shard::connections::serve::{Client, Flow};
use crate::signals::{Declared, Probes, Unprompted, in_acknowledgement, probe_payload, probe_topic};
use crate::slot::{ShardId, stable_hash};
use crate::words::{Profile, Word};

/// How often the kernel is asked about a member's socket at most: each question is a system call.
const SAMPLE_EVERY_US: u64 = 50_000;

impl Shard {
    /// What is known of a client that connects.
    pub(in crate::shard) fn profile(&mut self, index: usize, connect: &Connect<'_>, session: &Session) -> Profile {
        let (declared, ignored) = Declared::in_connect(&connect.properties.user);
        self.counters.traffic.signals_ignored.add(u64::from(ignored));
        Profile {
            identity: stable_hash(session.client_id().as_bytes()),
            receive_max: session.window_max().unwrap_or(connect.properties.receive_max),
            is_proxied: self.clients.connection(index).is_some_and(|connection| connection.socket.is_proxied()),
            declared,
        }
    }

    /// The report in an acknowledgement, if there is one and anybody to read it.
    pub(in crate::shard) fn hear_acknowledgement(&mut self, client: &Client, packet: &Packet<'_>) {
        let (Packet::PubAck(ack) | Packet::PubComp(ack)) = packet else { return };
        if ack.properties.user.is_empty() {
            return;
        }
        match in_acknowledgement(&ack.properties.user) {
            None => {}
            Some(Ok(report)) => self.tell_report(client.session, report),
            Some(Err(_)) => self.counters.traffic.signals_ignored.add(1),
        }
    }

    /// A message on `$lapwing/report`: it is for the broker, and goes nowhere.
    pub(in crate::shard) fn take_report(
        &mut self,
        index: usize,
        client: &Client,
        inbound: &Inbound<'_>,
        publish: &Publish<'_>,
    ) -> Flow {
        self.counters.publishes_in[publish.qos as usize].add(1);
        let charged = self.charge_message(index);
        if publish.qos != QoS::AtMostOnce {
            self.clients.with(client.session, |session, io| session.accept(inbound.receipt, Accepted::Now, io));
        }
        match Unprompted::parse(publish.payload) {
            Ok(said) => self.hear_unprompted(client.session, said),
            Err(_) => self.counters.traffic.signals_ignored.add(1),
        }
        charged
    }

    fn hear_unprompted(&mut self, key: SessionKey, said: Unprompted) {
        let Unprompted { report, probe, declared } = said;
        if declared != Declared::default() {
            self.declare(key, declared);
        }
        if let Some(report) = report {
            self.tell_report(key, report);
        }
        if let Some(id) = probe {
            self.answered_probe(key, id);
        }
    }

    /// A member says something else about itself than before.
    fn declare(&mut self, key: SessionKey, declared: Declared) {
        let Some(row) = self.clients.row(key) else { return };
        let membership = &mut row.membership;
        membership.declare(declared);
        let profile = membership.profile(row.session.client_id());
        let (owners, epoch) = (membership.owners(), membership.epoch);
        for owner in owners {
            self.tell(owner, Word::Declare { member: key, epoch, profile });
        }
        if declared.probe_ms.is_some() {
            self.start_probes(key);
        }
    }

    fn tell_report(&mut self, key: SessionKey, report: Report) {
        let Some(row) = self.clients.row(key) else { return };
        if !row.membership.is_member() {
            // Nobody's report: of a client that is in no group.
            return self.counters.traffic.signals_ignored.add(1);
        }
        let (owners, epoch) = (row.membership.owners(), row.membership.epoch);
        for owner in owners {
            self.tell(owner, Word::Report { member: key, epoch, report });
        }
    }

    /// Asks the kernel about a member's socket, unless it was asked just now.
    pub(super) fn sample(&mut self, key: SessionKey) {
        let now_us = self.clients.now_us;
        let Some(row) = self.clients.row(key) else { return };
        let membership = &mut row.membership;
        if !membership.may_sample(now_us, SAMPLE_EVERY_US) {
            return;
        }
        let (owners, epoch) = (membership.owners(), membership.epoch);
        let Some((rtt, unsent_bytes)) = self.ask_kernel(key) else { return };
        for owner in owners {
            self.say(owner, Word::Sample { member: key, epoch, rtt, unsent_bytes });
        }
    }

    /// Tells the owner of a group that a session has just joined what is known of the way to it, so that its first
    /// messages are not sent blindly.
    pub(in crate::shard) fn introduce(&mut self, key: SessionKey, owner: ShardId) {
        let Some(row) = self.clients.row(key) else { return };
        let epoch = row.membership.epoch;
        let probed_us = row.membership.probes().and_then(|probes| probes.last_us());
        let Some((measured, unsent_bytes)) = self.ask_kernel(key) else { return };
        let rtt = measured.or(probed_us.map(|rtt_us| (RttSource::Probe, rtt_us)));
        self.tell(owner, Word::Sample { member: key, epoch, rtt, unsent_bytes });
    }

    /// The way to a member as its kernel's socket has it, and what has not arrived; `None` if it is not connected.
    fn ask_kernel(&mut self, key: SessionKey) -> Option<(Option<(RttSource, u64)>, u64)> {
        let row = self.clients.row(key)?;
        let is_proxied = row.membership.is_proxied;
        let index = row.connection()?;
        let connection = self.clients.connection(index)?;
        // Behind a proxy the kernel sees the near leg only.
        let rtt_us = connection.socket.min_rtt_us().filter(|_| !is_proxied);
        let unsent_bytes = connection.socket.unsent_bytes() + connection.output_bytes() as u64;
        Some((rtt_us.map(|rtt_us| (RttSource::Kernel, u64::from(rtt_us))), unsent_bytes))
    }

    /// Begins to probe a client that has asked for it.
    pub(in crate::shard) fn start_probes(&mut self, key: SessionKey) {
        let now_us = self.clients.now_us;
        let Some(row) = self.clients.row(key) else { return };
        let membership = &mut row.membership;
        let Some(probe_ms) = membership.declared().probe_ms else { return membership.set_probes(None) };
        match membership.probes() {
            Some(probes) => probes.set_interval(probe_ms),
            None => {
                membership.set_probes(Some(Probes::new(probe_ms, now_us)));
                self.timers.add(now_us / 1000, Due::Probe { key, epoch: membership.epoch });
            }
        }
    }

    /// The time for a probe has come, if it is the same connection still.
    pub(in crate::shard) fn probe_due(&mut self, key: SessionKey, epoch: u64) {
        let (now_ms, now_us) = (self.now_ms, self.shared.now_us());
        let here = self.clients.row(key).filter(|row| row.connection().is_some() && row.membership.epoch == epoch);
        let Some(row) = here else { return };
        let Some(probes) = row.membership.probes() else { return };
        let id = probes.sent(now_us);
        let next_ms = probes.next_due_us() / 1000;
        let (topic, payload) = (probe_topic(row.session.client_id()), probe_payload(id));
        let routed = Routed::new(Publish::qos0(&topic, payload.as_bytes()), SessionKey(u64::MAX), now_ms);
        self.clients.with(key, |session, io| {
            // A probe that finds no room is counted like any message, and the next one is not held up by it.
            let _ = session.deliver_bound(&routed, &Grant::default(), QoS::AtMostOnce, None, now_ms, io);
        });
        self.timers.add(next_ms.max(now_ms + 1), Due::Probe { key, epoch });
    }

    fn answered_probe(&mut self, key: SessionKey, id: u16) {
        let now_us = self.clients.now_us;
        let Some(row) = self.clients.row(key) else { return };
        let (owners, epoch) = (row.membership.owners(), row.membership.epoch);
        let rtt_us = row.membership.probes().and_then(|probes| probes.answered(id, now_us));
        let Some(rtt_us) = rtt_us else { return self.counters.traffic.signals_ignored.add(1) };
        let Some((_, unsent_bytes)) = self.ask_kernel(key) else { return };
        for owner in owners {
            self.tell(owner, Word::Sample { member: key, epoch, rtt: Some((RttSource::Probe, rtt_us)), unsent_bytes });
        }
    }
}
