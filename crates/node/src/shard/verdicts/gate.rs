//! The gate: packets that a hook must judge wait here, unread, until it has.
//!
//! The bytes of a packet stay in the connection's input while its question is under way. When the verdict is there the
//! connection is released, the same bytes are decoded again, and the packet finds its verdict. So nothing of a client
//! overtakes anything else of it, and a connection that waits holds nothing but its own bytes.

use std::collections::VecDeque;

use lapwing_codec::{Packet, Publish, decode};

use crate::config::OnFailure;
use crate::hooks::{HookCall, HookFeed, HookMessage, HookName, Missing, Verdict, Whom};
use crate::metrics::DropReason;
use crate::shard::Shard;
use crate::shard::connect::judge::Candidate;
use crate::shard::connections::connection::Pause;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::rights::permissions::permits;
use crate::signals::REPORT_TOPIC;

/// Bytes of PUBLISH packets of one connection that are judged together, so that the copies stay small beside what was
/// read.
const RUN_BYTES: usize = 128 << 10;

/// What a connection waits for, and what it was told.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The question under way.
    ticket: Option<Ticket>,
    /// For its next packets, in their order.
    pub(in crate::shard) verdicts: VecDeque<Verdict>,
    /// What is known already of a client that connects.
    pub(in crate::shard) candidate: Candidate,
}

/// Which answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shard) enum Ticket {
    /// Of the hooks.
    Hook(u64),
    /// Of the thread that checks passwords.
    Password(u64),
}

/// What became of the wish to ask.
pub(in crate::shard) enum Asking {
    /// The connection is paused now.
    Asked,
    /// The queue is full: there will be no answer.
    Full,
    /// There is nothing to ask.
    Needless,
}

impl Shard {
    /// Whether `packet` of an open connection needs a verdict. All that a node without hooks pays.
    #[inline]
    pub(in crate::shard) fn is_hooked(&self, packet: &Packet<'_>) -> bool {
        let Some(hooks) = &self.verdicts.hooks else { return false };
        match packet {
            Packet::Publish(publish) => publish.topic != REPORT_TOPIC && hooks.wants(HookName::Publish),
            Packet::Subscribe(_) => hooks.wants(HookName::Subscribe),
            _ => false,
        }
    }

    /// A packet that a hook judges; `bytes` begin with it and hold all that was read.
    pub(in crate::shard) fn hooked_packet(
        &mut self,
        index: usize,
        client: &Client,
        packet: &Packet<'_>,
        bytes: &[u8],
    ) -> Flow {
        match packet {
            Packet::Publish(publish) => self.hooked_publish(index, client, publish, bytes),
            Packet::Subscribe(subscribe) => self.hooked_subscribe(index, client, subscribe),
            _ => self.handle_packet(index, client, packet),
        }
    }

    fn hooked_publish(&mut self, index: usize, client: &Client, publish: &Publish<'_>, bytes: &[u8]) -> Flow {
        let packet = Packet::Publish(*publish);
        if let Some(verdict) = self.next_verdict(index) {
            return self.judged_publish(index, client, &packet, verdict);
        }
        match self.ask_publishes(index, client, bytes) {
            Asking::Asked => Flow::Asked,
            Asking::Full => self.judged_publish(index, client, &packet, Verdict::Missing(Missing::QueueFull)),
            Asking::Needless => self.handle_packet(index, client, &packet),
        }
    }

    /// Asks about the run of PUBLISH packets at the beginning of `bytes`, their topic aliases resolved.
    fn ask_publishes(&mut self, index: usize, client: &Client, bytes: &[u8]) -> Asking {
        let limits = self.client_settings(index).limits.clone();
        let Some(who) = client.who.clone() else { return Asking::Needless };
        let run_packets = self.verdicts.hooks.as_ref().map_or(1, HookFeed::run_packets);
        let bridges = self.shared.config.limits.mqtt_bridges;
        let mut permissions = self.lend_permissions(client.session);
        let Some(row) = self.clients.row(client.session) else { return Asking::Needless };
        let (mut calls, mut aliases, mut at) = (Vec::new(), Vec::new(), 0);
        while calls.len() < run_packets && at < RUN_BYTES {
            let Ok(Some((Packet::Publish(publish), len))) = decode(&bytes[at..], client.version, &limits) else {
                break;
            };
            // What the session refuses or only acknowledges again is none of the hook's business.
            let is_repeated = row.session.is_repeated(&publish);
            let Some(topic) = resolve(&publish, &mut aliases, |alias| row.session.topic_of(alias)) else { break };
            let is_beyond = row.session.beyond(&Publish { topic, ..publish }).is_some();
            if is_repeated || is_beyond || !permits(permissions.as_mut(), topic, bridges) {
                break;
            }
            let message = Box::new(HookMessage::of(&Publish { topic, ..publish }));
            calls.push(HookCall::Publish { client: who.clone(), message, is_will: false });
            at += len;
        }
        self.return_permissions(client.session, permissions);
        self.ask(index, calls)
    }

    /// Asks for an open or connecting connection, which is paused then.
    pub(in crate::shard) fn ask(&mut self, index: usize, calls: Vec<HookCall>) -> Asking {
        let (Some(hooks), Some(first)) = (&mut self.verdicts.hooks, calls.first()) else { return Asking::Needless };
        let (hook, count) = (first.hook(), calls.len());
        let Some(ticket) = hooks.ask(Whom::Connection(index), calls, self.now_ms) else {
            self.counters.hooks.missing(hook, Missing::QueueFull, count);
            return Asking::Full;
        };
        self.wait_at_gate(index, Ticket::Hook(ticket));
        Asking::Asked
    }

    /// Pauses a connection until its answer is there.
    pub(in crate::shard) fn wait_at_gate(&mut self, index: usize, ticket: Ticket) {
        if let Some(connection) = self.clients.connection(index) {
            connection.gate_mut().ticket = Some(ticket);
            // Not in the list of those that are paused: nothing is looked at again before the answer comes.
            connection.paused = Some(Pause::Gate);
        }
    }

    /// The verdict for the packet that is handled now; the gate goes when it is empty.
    pub(in crate::shard) fn next_verdict(&mut self, index: usize) -> Option<Verdict> {
        let connection = self.clients.connection(index)?;
        let verdict = connection.gate.as_mut()?.verdicts.pop_front();
        if verdict.is_some() && connection.gate.as_ref().is_some_and(|gate| gate.is_passed()) {
            connection.gate = None;
        }
        verdict
    }

    /// Takes the answers that have come, and gives up those that are late.
    pub(in crate::shard) fn take_verdicts(&mut self) {
        while let Some((pending, verdicts)) = self.verdicts.hooks.as_mut().and_then(HookFeed::answered) {
            self.deliver_verdicts(pending.ticket, pending.whom, verdicts);
        }
        while let Some(checked) = self.verdicts.passwords.answered() {
            if let Some(gate) = self.answered_gate(checked.index, Ticket::Password(checked.ticket)) {
                gate.candidate.checked = Some(checked.result);
                self.leave_gate(checked.index);
            }
        }
        let now_ms = self.now_ms;
        while let Some(late) = self.verdicts.hooks.as_mut().and_then(|hooks| hooks.late(now_ms)) {
            self.counters.hooks.missing(late.hook, Missing::Late, late.calls);
            let verdicts = (0..late.calls).map(|_| Verdict::Missing(Missing::Late)).collect();
            self.deliver_verdicts(late.ticket, late.whom, verdicts);
        }
    }

    fn deliver_verdicts(&mut self, ticket: u64, whom: Whom, verdicts: Vec<Verdict>) {
        match whom {
            Whom::Connection(index) => {
                if let Some(gate) = self.answered_gate(index, Ticket::Hook(ticket)) {
                    gate.verdicts.extend(verdicts);
                    self.leave_gate(index);
                }
            }
            Whom::Again { index, born } => {
                let verdict = verdicts.into_iter().next().unwrap_or(Verdict::Missing(Missing::Failed));
                self.answered_again(index, born, verdict);
            }
            Whom::Will { message, client, debt } => {
                let verdict = verdicts.into_iter().next().unwrap_or(Verdict::Missing(Missing::Failed));
                self.judged_will(&message, &client, debt, verdict);
            }
        }
    }

    /// The gate that waits for `ticket`; none when the connection has ended, or another one has its place.
    pub(in crate::shard) fn answered_gate(&mut self, index: usize, ticket: Ticket) -> Option<&mut Gate> {
        let gate = self.clients.connection(index)?.gate.as_mut()?;
        if gate.ticket != Some(ticket) {
            return None;
        }
        gate.ticket = None;
        Some(gate)
    }

    /// Lets a connection go on.
    pub(in crate::shard) fn leave_gate(&mut self, index: usize) {
        let Some(connection) = self.clients.connection(index) else { return };
        // A node that drains has other plans with it.
        if connection.paused == Some(Pause::Gate) {
            connection.paused = None;
            self.clients.queue_read(index);
        }
    }

    /// Whether work without an answer goes on.
    pub(in crate::shard) fn passes_unjudged(&self) -> bool {
        self.verdicts.hooks.as_ref().is_none_or(|hooks| hooks.on_failure() == OnFailure::Pass)
    }

    /// Tells the hooks of something that has happened, if they want to know.
    pub(in crate::shard) fn observe(&mut self, hook: HookName, call: impl FnOnce() -> HookCall) {
        if let Some(hooks) = self.verdicts.hooks.as_mut().filter(|hooks| hooks.wants(hook))
            && !hooks.observe(call())
        {
            self.counters.hooks.missing(hook, Missing::QueueFull, 1);
        }
    }
}

impl Gate {
    /// Nothing is waited for, and nothing waits.
    fn is_passed(&self) -> bool {
        self.ticket.is_none() && self.verdicts.is_empty() && self.candidate.is_done()
    }
}

/// Under which reason a message without an answer is dropped.
pub(in crate::shard) const fn drop_reason(missing: Missing) -> DropReason {
    match missing {
        Missing::Failed => DropReason::HookFailed,
        Missing::Late => DropReason::HookLate,
        Missing::QueueFull => DropReason::HookQueueFull,
    }
}

/// The topic of a PUBLISH that is not handled yet: its own, or that of its alias, set in this run or known to the session.
fn resolve<'a>(
    publish: &Publish<'a>,
    aliases: &mut Vec<(u16, &'a str)>,
    known: impl FnOnce(u16) -> Option<&'a str>,
) -> Option<&'a str> {
    let alias = publish.properties.topic_alias;
    if !publish.topic.is_empty() {
        aliases.extend(alias.map(|alias| (alias, publish.topic)));
        return Some(publish.topic);
    }
    let alias = alias?;
    aliases.iter().rev().find(|(set, _)| *set == alias).map(|(_, topic)| *topic).or_else(|| known(alias))
}

#[cfg(test)]
mod tests {
    use lapwing_codec::PublishProperties;

    use super::*;

    fn publish(topic: &str, alias: Option<u16>) -> Publish<'_> {
        let properties = PublishProperties { topic_alias: alias, ..PublishProperties::EMPTY };
        Publish { properties, ..Publish::qos0(topic, b"") }
    }

    /// Has each packet of a run the topic that it will have when it is handled?
    #[test]
    fn aliases_are_resolved_as_they_will_be() {
        let known = |alias| (alias == 7).then_some("old");
        let mut aliases = Vec::new();
        let mut topic = |publish: Publish<'static>| resolve(&publish, &mut aliases, known);
        assert_eq!(topic(publish("", Some(7))), Some("old"));
        assert_eq!(topic(publish("new", Some(7))), Some("new"));
        assert_eq!(topic(publish("", Some(7))), Some("new"));
        assert_eq!(topic(publish("newer", Some(7))), Some("newer"));
        assert_eq!(topic(publish("", Some(7))), Some("newer"));
        assert_eq!(topic(publish("", Some(8))), None, "a protocol error, for the session to find");
        assert_eq!(topic(publish("", None)), None);
    }
}
