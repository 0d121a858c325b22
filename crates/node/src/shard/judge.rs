//! Who a client is, and whether it may come in: asked at its CONNECT, before a session is touched.
//!
//! The CONNECT waits at the gate while somebody outside is asked, and is decoded again with the answer; what is known by
//! then lies in the [`Candidate`]. Nothing is taken over before the last answer: whoever has no right to a client id cannot
//! disturb the one who has.

use std::sync::Arc;

use lapwing_access::{Identity, Voucher};
use lapwing_codec::{Connect, Publish, PublishProperties, ReasonCode, SubscriptionIds};
use lapwing_session::Admission;

use super::Shard;
use super::gate::Asking;
use super::standing::Standing;
use crate::hooks::{ConnectCall, HookCall, HookClient, HookMessage, HookName, Missing, Verdict};

/// What is known of a client whose CONNECT waits.
#[derive(Debug, Default)]
pub(crate) struct Candidate {
    /// The id it was given, so that it has the same when its CONNECT is decoded again.
    pub(super) assigned_id: Option<Box<str>>,
}

/// Why a CONNECT does not lead to a session now.
pub(super) enum Stop {
    /// Somebody was asked; the CONNECT waits.
    Asked,
    /// No.
    Refused { reason: ReasonCode, text: Option<Box<str>> },
}

impl Candidate {
    /// Nothing has to be remembered any more.
    pub(super) const fn is_done(&self) -> bool {
        self.assigned_id.is_none()
    }
}

impl Shard {
    /// Decides about a CONNECT, as far as that is possible now.
    pub(super) fn judge_connect(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        admission: &Admission,
    ) -> Result<Standing, Stop> {
        let identity = Identity::ANONYMOUS;
        if self.hooks.is_none() {
            return Ok(Standing { identity, who: None });
        }
        let who = HookClient {
            client_id: (*admission.client_id).into(),
            identity: identity.shared_name().cloned(),
            address: String::new(),
            version: connect.version.level(),
        };
        let decided = self.consult(index, connect, who, identity);
        if let Err(Stop::Asked) = decided
            && admission.assigned
            && let Some(connection) = self.clients.connection(index)
        {
            connection.gate_mut().candidate.assigned_id = Some(admission.client_id.clone());
        }
        decided
    }

    /// Hears `on_connect`, if there is one.
    fn consult(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        who: HookClient,
        identity: Identity,
    ) -> Result<Standing, Stop> {
        if !self.hooks.as_ref().is_some_and(|hooks| hooks.wants(HookName::Connect)) {
            return Ok(standing(who, identity));
        }
        let verdict = match self.next_verdict(index) {
            Some(verdict) => verdict,
            None => match self.ask(index, vec![connect_call(connect, &who)]) {
                Asking::Asked => return Err(Stop::Asked),
                Asking::Full | Asking::Needless => Verdict::Missing(Missing::QueueFull),
            },
        };
        match verdict {
            Verdict::Admit(Some(name)) => Ok(standing(who, Identity::named(name, Voucher::Hook))),
            Verdict::Refuse { reason, text } => {
                self.counters.hooks.refused(HookName::Connect);
                Err(Stop::Refused { reason, text })
            }
            Verdict::Missing(_) if !self.passes_unjudged() => {
                Err(Stop::Refused { reason: ReasonCode::ServerUnavailable, text: None })
            }
            _ => Ok(standing(who, identity)),
        }
    }

    /// The id for a client without one: that of the first decoding of its CONNECT, or a new one.
    pub(super) fn id_for(&mut self, index: usize) -> String {
        let gate = self.clients.connection(index).and_then(|connection| connection.gate.as_mut());
        let given = gate.and_then(|gate| gate.candidate.assigned_id.take());
        given.map_or_else(|| self.assign_id(), String::from)
    }
}

fn standing(who: HookClient, identity: Identity) -> Standing {
    let who = HookClient { identity: identity.shared_name().cloned(), ..who };
    Standing { identity, who: Some(Arc::new(who)) }
}

fn connect_call(connect: &Connect<'_>, who: &HookClient) -> HookCall {
    let user = connect.properties.user.iter();
    HookCall::Connect(Box::new(ConnectCall {
        client: Arc::new(who.clone()),
        username: connect.username.map(str::to_owned),
        password: connect.password.map(<[u8]>::to_vec),
        clean_start: connect.clean_start,
        keep_alive_s: connect.keep_alive_s,
        will: connect.will.as_ref().map(|will| HookMessage::of(&will_publish(will))),
        user_properties: user.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    }))
}

/// A will as the PUBLISH that it may become.
fn will_publish<'a>(will: &lapwing_codec::Will<'a>) -> Publish<'a> {
    let properties = &will.properties;
    Publish {
        dup: false,
        qos: will.qos,
        retain: will.retain,
        topic: will.topic,
        packet_id: None,
        properties: PublishProperties {
            payload_is_utf8: properties.payload_is_utf8,
            message_expiry_s: properties.message_expiry_s,
            topic_alias: None,
            response_topic: properties.response_topic,
            correlation_data: properties.correlation_data,
            content_type: properties.content_type,
            subscription_ids: SubscriptionIds::EMPTY,
            user: properties.user,
        },
        payload: will.payload,
    }
}
