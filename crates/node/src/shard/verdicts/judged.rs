//! What becomes of a packet once its verdict is there.

use std::sync::Arc;

use lapwing_codec::{Packet, Publish, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscriptionOptions};
use lapwing_session::{Inbound, Io, Message, Routed, Session, Step};

use crate::events::Happened;
use crate::holder::Holder;
use crate::hooks::{Changed, HookCall, HookClient, HookMessage, HookName, Missing, SubscribeCall, Verdict, Whom};
use crate::metrics::DropReason;
use crate::shard::Shard;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::durable::awaited_entries::{Awaited, ReadyWill};
use crate::shard::durable::owed_wills::Debt;
use crate::shard::publish::route::Publisher;
use crate::shard::verdicts::gate::{Asking, drop_reason};

/// A message that is not routed.
pub(in crate::shard) struct Refused {
    pub(in crate::shard) reason: ReasonCode,
    pub(in crate::shard) why: DropReason,
    /// Words for people.
    pub(in crate::shard) text: Option<Box<str>>,
}

impl Shard {
    /// A PUBLISH with its verdict. The session sees it first: what is wrong with it, or only came again, it handles alone.
    pub(in crate::shard) fn judged_publish(
        &mut self,
        index: usize,
        client: &Client,
        packet: &Packet<'_>,
        verdict: Verdict,
    ) -> Flow {
        let now_ms = self.now_ms;
        let step = self.clients.with(client.session, |session, io| session.handle(packet, now_ms, io));
        let inbound = match step {
            Some(Ok(Step::Publish(inbound))) => inbound,
            Some(Ok(_)) => return self.check_output(index),
            Some(Err(close)) => {
                self.close(index, &close);
                return Flow::Gone;
            }
            None => return Flow::Gone,
        };
        if let Some(beyond) = inbound.beyond {
            return self.refuse_beyond(index, client, &inbound, beyond);
        }
        let original = inbound.publish();
        if !self.may_publish(index, client, original.topic) {
            return self.forbid_publish(index, client, &inbound);
        }
        match self.decide_publish(verdict) {
            Ok(None) => self.publish(index, client, &inbound, original),
            Ok(Some(changed)) => self.publish(index, client, &inbound, changed.publish(&original)),
            Err(refused) => self.refuse_publish(index, client, &inbound, &refused),
        }
    }

    /// Whether a message is routed, and as what if not as it is.
    fn decide_publish(&mut self, verdict: Verdict) -> Result<Option<Box<Changed>>, Refused> {
        match verdict {
            Verdict::Change(changed) => Ok(Some(changed)),
            Verdict::Refuse { reason, text } => {
                self.counters.hooks.refused(HookName::Publish);
                Err(Refused { reason, why: DropReason::HookRefused, text })
            }
            Verdict::Missing(missing) if !self.passes_unjudged() => {
                let reason = ReasonCode::ImplementationSpecificError;
                Err(Refused { reason, why: drop_reason(missing), text: None })
            }
            _ => Ok(None),
        }
    }

    /// A refused message is acknowledged with the reason (5.0) or as if it were taken (3.1.1, [MQTT-3.3.5-2]), and counted.
    pub(in crate::shard) fn refuse_publish(
        &mut self,
        index: usize,
        client: &Client,
        inbound: &Inbound<'_>,
        refused: &Refused,
    ) -> Flow {
        let qos = inbound.publish().qos;
        self.counters.publishes_in[qos as usize].add(1);
        self.counters.dropped(refused.why, 1);
        let charged = self.charge_message(index);
        if qos != QoS::AtMostOnce {
            let words = refused.text.as_deref();
            let refuse = |session: &mut Session, io: &mut Io<'_>| {
                session.refuse(inbound.receipt, refused.reason, words, io);
            };
            self.clients.with(client.session, refuse);
        }
        if charged == Flow::Paused { charged } else { self.check_output(index) }
    }

    /// A SUBSCRIBE, of which each filter needs a verdict.
    pub(in crate::shard) fn hooked_subscribe(
        &mut self,
        index: usize,
        client: &Client,
        subscribe: &Subscribe<'_>,
    ) -> Flow {
        let first = match self.next_verdict(index) {
            Some(verdict) => verdict,
            None => match self.ask_subscribe(index, client, subscribe) {
                Asking::Asked => return Flow::Asked,
                Asking::Full | Asking::Needless => Verdict::Missing(Missing::QueueFull),
            },
        };
        let mut verdicts = vec![first];
        // All filters of a packet are asked about together: what is not there was never asked.
        verdicts.resize_with(subscribe.filters.len(), || {
            self.next_verdict(index).unwrap_or(Verdict::Missing(Missing::QueueFull))
        });
        self.judged_subscribe(index, client, subscribe, verdicts)
    }

    fn ask_subscribe(&mut self, index: usize, client: &Client, subscribe: &Subscribe<'_>) -> Asking {
        let Some(who) = &client.who else { return Asking::Needless };
        let subscription_id = subscribe.properties.subscription_id.map(|id| id.get());
        let call = |asked: lapwing_codec::SubscribeFilter<'_>| {
            let (client, filter) = (who.clone(), asked.filter.into());
            HookCall::Subscribe(Box::new(SubscribeCall { client, filter, options: asked.options, subscription_id }))
        };
        let calls = subscribe.filters.iter().map(call).collect();
        self.ask(index, calls)
    }

    /// Subscribes to what was granted; the SUBACK says which filters were not.
    fn judged_subscribe(
        &mut self,
        index: usize,
        client: &Client,
        subscribe: &Subscribe<'_>,
        verdicts: Vec<Verdict>,
    ) -> Flow {
        let mut filters = SubscribeFiltersBuf::new();
        let mut refused = Vec::with_capacity(verdicts.len());
        let words = words_of(&verdicts);
        for (asked, verdict) in subscribe.filters.iter().zip(verdicts) {
            let options = match verdict {
                Verdict::Grant(granted) => within(granted, asked.options, asked.filter),
                _ => asked.options,
            };
            refused.push(self.decide_subscribe(&verdict));
            // What came in one packet fits into one packet again; were it not so, no SUBACK could say which.
            if filters.push(asked.filter, options).is_err() {
                self.dismiss(index, ReasonCode::ImplementationSpecificError, "its filters cannot be judged");
                return Flow::Gone;
            }
        }
        let packet = Packet::Subscribe(Subscribe { filters: filters.as_ref(), ..*subscribe });
        let now_ms = self.now_ms;
        match self.clients.with(client.session, |session, io| session.handle(&packet, now_ms, io)) {
            Some(Ok(Step::Subscribe(request))) => {
                // Whole: its verdicts are for all of it.
                let Some((mut reply, waits)) = self.apply_subscribe(client.session, &request, &refused) else {
                    return Flow::Gone;
                };
                words.into_iter().for_each(|words| reply.explain(&words));
                self.wait_or_reply(client.session, (reply, waits), None, false);
                self.check_share(index)
            }
            Some(Ok(_)) => Flow::Continue,
            Some(Err(close)) => {
                self.close(index, &close);
                Flow::Gone
            }
            None => Flow::Gone,
        }
    }

    fn decide_subscribe(&mut self, verdict: &Verdict) -> Option<ReasonCode> {
        match verdict {
            Verdict::Refuse { reason, .. } => {
                self.counters.hooks.refused(HookName::Subscribe);
                Some(*reason)
            }
            Verdict::Missing(_) if !self.passes_unjudged() => Some(ReasonCode::ImplementationSpecificError),
            _ => None,
        }
    }

    /// Publishes a will, after `on_publish` has seen it as it is then; nobody is held back for that.
    ///
    /// `holder`: whose it is, if it is retained; its session may be gone already.
    pub(in crate::shard) fn publish_will(
        &mut self,
        will: &Arc<Message>,
        client_id: &str,
        who: Option<&Arc<HookClient>>,
        holder: Option<Holder>,
    ) {
        let debt = self.will_debt(client_id);
        let hooks = self.verdicts.hooks.as_mut().filter(|hooks| hooks.wants(HookName::Publish));
        let (Some(hooks), Some(who)) = (hooks, who) else {
            return self.route_will(will, client_id, who, (holder, debt));
        };
        let message = Box::new(HookMessage::of(&will.publish()));
        let call = HookCall::Publish { client: who.clone(), message, is_will: true };
        let whom = Whom::Will { message: will.clone(), client: who.clone(), debt };
        if hooks.ask(whom, vec![call], self.now_ms).is_none() {
            self.counters.hooks.missing(HookName::Publish, Missing::QueueFull, 1);
            self.judged_will(will, who, debt, Verdict::Missing(Missing::QueueFull));
        }
    }

    /// A will with its verdict.
    pub(in crate::shard) fn judged_will(
        &mut self,
        will: &Arc<Message>,
        who: &Arc<HookClient>,
        debt: Option<Debt>,
        verdict: Verdict,
    ) {
        let holder = self.holder_by(who.identity.as_deref(), &who.client_id);
        match self.decide_publish(verdict) {
            Ok(None) => self.route_will(will, &who.client_id, Some(who), (holder, debt)),
            Ok(Some(changed)) => {
                let publish = changed.publish(&will.publish());
                let expires_at_ms = publish.properties.message_expiry_s.map_or(will.expires_at_ms(), |expiry_s| {
                    Some(self.now_ms.saturating_add(u64::from(expiry_s) * 1000))
                });
                let message = Arc::new(Message::new(&publish, will.publisher(), expires_at_ms));
                self.route_will(&message, &who.client_id, Some(who), (holder, debt));
            }
            Err(refused) => {
                self.counters.dropped(refused.why, 1);
                self.will_went(&who.client_id, debt, None);
            }
        }
    }

    fn route_will(
        &mut self,
        will: &Arc<Message>,
        client_id: &str,
        who: Option<&Arc<HookClient>>,
        (holder, debt): (Option<Holder>, Option<Debt>),
    ) {
        let ready = ReadyWill { will: will.clone(), client_id: client_id.into(), who: who.cloned(), holder, debt };
        if self.durable.has_committed(self.will_origin(client_id, debt, will.publish().qos)) {
            self.send_will(&ready);
        } else {
            self.durable.awaited_entries.push(Awaited::Will(Box::new(ready)));
        }
    }

    /// Sends a will out: what it is named by is committed.
    pub(in crate::shard) fn send_will(&mut self, ready: &ReadyWill) {
        let ReadyWill { will, client_id, who, holder, debt } = ready;
        self.counters.wills.add(1);
        let origin = self.will_origin(client_id, *debt, will.publish().qos);
        let mut publisher = Publisher { origin, holder: *holder, ..Publisher::named(client_id) };
        // A will is never held back: it waits in the lanes' own queues.
        let accepted = self.route(&Routed::of(will), &mut publisher);
        self.will_went(client_id, *debt, Some(accepted));
        if let Some(who) = who {
            self.observe_published(who, &will.publish());
        }
    }

    /// Tells `on_published`, and who reads events, of a message that was routed.
    pub(in crate::shard) fn observe_published(&mut self, who: &Arc<HookClient>, publish: &Publish<'_>) {
        self.note_event(who, &Happened::Published(publish));
        self.observe(HookName::Published, || HookCall::Published {
            client: who.clone(),
            message: Box::new(HookMessage::of(publish)),
        });
    }
}

/// What hooks say of the filters that they refuse: a SUBACK has one place for words.
fn words_of(verdicts: &[Verdict]) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for verdict in verdicts {
        if let Verdict::Refuse { text: Some(text), .. } = verdict
            && !words.contains(&&**text)
        {
            words.push(text);
        }
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// What a hook grants, but not more than was asked for. No Local on a shared subscription would be an error of the
/// client's, which it has not made.
fn within(granted: SubscriptionOptions, asked: SubscriptionOptions, filter: &str) -> SubscriptionOptions {
    let no_local = if filter.starts_with("$share/") { asked.no_local } else { granted.no_local };
    SubscriptionOptions { qos: granted.qos.min(asked.qos), no_local, ..granted }
}
