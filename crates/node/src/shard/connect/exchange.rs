//! Enhanced authentication (MQTT 5.0, section 4.12): what the packets say is the session's, who is right is `on_auth`'s.
//!
//! The CONNECT is kept until the exchange is over; then it is judged like any other, with the identity that was proved. The
//! time for a CONNECT covers the whole exchange.

use std::sync::Arc;

use lapwing_access::{Identity, Voucher};
use lapwing_codec::{Connect, Packet, ReasonCode};
use lapwing_session::{AuthAnswer, AuthProgress, AuthQuestion, Authentication, SessionKey, Side};

use crate::hooks::{AuthCall, HookCall, HookClient, HookName, Missing, Verdict, Whom};
use crate::shard::Shard;
use crate::shard::connect::judge::Stop;
use crate::shard::connections::connection::Stage;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::verdicts::gate::Asking;

/// An exchange before the CONNACK.
#[derive(Debug)]
pub(crate) struct Exchange {
    authentication: Authentication,
    /// The CONNECT, once its own step has been answered.
    pub(in crate::shard) connect: Vec<u8>,
    /// How it ended, if well.
    pub(in crate::shard) passed: Option<Passed>,
}

/// A successful end.
#[derive(Debug)]
pub(in crate::shard) struct Passed {
    pub(in crate::shard) identity: Identity,
    /// For the CONNACK.
    pub(in crate::shard) data: Option<Box<[u8]>>,
}

impl Shard {
    /// The identity that a client has proved by the method its CONNECT names; `packet` is its step.
    pub(in crate::shard) fn authenticate(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        packet: &Packet<'_>,
        who: &HookClient,
    ) -> Result<Identity, Stop> {
        if let Some(passed) = self.exchange(index).and_then(|exchange| exchange.passed.as_ref()) {
            return Ok(passed.identity.clone());
        }
        match self.next_verdict(index) {
            None => Err(self.ask_step(index, connect, packet, who)),
            Some(verdict) => self.answer_step(index, verdict),
        }
    }

    /// The exchange that a connection has before its CONNACK.
    pub(in crate::shard) fn exchange(&mut self, index: usize) -> Option<&mut Exchange> {
        self.clients.connection(index)?.gate.as_mut()?.candidate.exchange.as_deref_mut()
    }

    fn ask_step(&mut self, index: usize, connect: &Connect<'_>, packet: &Packet<'_>, who: &HookClient) -> Stop {
        let question = match self.exchange(index) {
            Some(exchange) => exchange.authentication.handle(packet),
            None => match Authentication::begin(connect) {
                Some((authentication, question)) => {
                    let exchange = Exchange { authentication, connect: Vec::new(), passed: None };
                    if let Some(connection) = self.clients.connection(index) {
                        connection.gate_mut().candidate.exchange = Some(Box::new(exchange));
                    }
                    Ok(question)
                }
                None => return Stop::refused(ReasonCode::BadAuthenticationMethod),
            },
        };
        match question {
            Ok(question) => match self.ask(index, vec![auth_call(&question, Arc::new(who.clone()), false)]) {
                Asking::Asked => Stop::Asked,
                Asking::Full | Asking::Needless => Stop::refused(ReasonCode::ServerUnavailable),
            },
            Err(close) if close.side == Side::Client => Stop::Left,
            Err(close) => Stop::refused(close.reason),
        }
    }

    fn answer_step(&mut self, index: usize, verdict: Verdict) -> Result<Identity, Stop> {
        let answer = match &verdict {
            Verdict::Continue(data) => AuthAnswer::Continue { data: data.as_deref(), reason_string: None },
            Verdict::Success { data, .. } => AuthAnswer::Success { data: data.as_deref() },
            Verdict::Refuse { reason, text } => {
                self.counters.hooks.refused(HookName::Auth);
                return Err(Stop::Refused { reason: *reason, text: text.clone() });
            }
            // Without an answer nobody has proved anything, whatever the policy for other hooks is.
            _ => return Err(Stop::refused(ReasonCode::ServerUnavailable)),
        };
        let Some(connection) = self.clients.connection(index) else { return Err(Stop::Left) };
        let output = &mut connection.output;
        let Some(exchange) = connection.gate.as_mut().and_then(|gate| gate.candidate.exchange.as_mut()) else {
            return Err(Stop::refused(ReasonCode::ImplementationSpecificError));
        };
        let progress = exchange.authentication.answer(&answer, output);
        match (progress, verdict) {
            (Err(close), _) => Err(Stop::refused(close.reason)),
            (Ok(AuthProgress::Passed), Verdict::Success { data, identity }) => {
                let named = |name| Identity::named(name, Voucher::Hook);
                let identity = identity.map_or(Identity::ANONYMOUS, named);
                exchange.passed = Some(Passed { identity: identity.clone(), data });
                Ok(identity)
            }
            (Ok(_), _) => {
                self.clients.touch(index);
                Err(Stop::Challenged)
            }
        }
    }

    /// An open client proves anew who it is; what it sends meanwhile goes on under what it has proved before.
    pub(in crate::shard) fn authenticate_again(
        &mut self,
        index: usize,
        client: &Client,
        question: &AuthQuestion<'_>,
    ) -> Flow {
        let born = self.clients.connection(index).map_or(0, |connection| connection.born);
        let whom = Whom::Again { index, born };
        let ticket = client.who.clone().and_then(|who| {
            let call = auth_call(question, who, true);
            self.verdicts.hooks.as_mut()?.ask(whom, vec![call], self.now_ms)
        });
        if ticket.is_none() {
            self.counters.hooks.missing(HookName::Auth, Missing::QueueFull, 1);
            self.answer_again(index, client.session, Verdict::Missing(Missing::QueueFull));
        }
        if self.clients.connection(index).is_some() { self.check_output(index) } else { Flow::Gone }
    }

    /// The answer to a client that authenticates itself anew, if it still has the same connection.
    pub(in crate::shard) fn answered_again(&mut self, index: usize, born: u64, verdict: Verdict) {
        let Some(connection) = self.clients.connection(index).filter(|connection| connection.born == born) else {
            return;
        };
        if let Stage::Open { session, .. } = connection.stage {
            self.answer_again(index, session, verdict);
        }
    }

    fn answer_again(&mut self, index: usize, session: SessionKey, verdict: Verdict) {
        let Some(row) = self.clients.row(session) else { return };
        let is_same = |name: Option<&str>| name.is_none() || name == row.standing.identity.name();
        let answer = match &verdict {
            Verdict::Continue(data) => AuthAnswer::Continue { data: data.as_deref(), reason_string: None },
            // Rights, will and session are those of the identity that has connected: it cannot become another.
            Verdict::Success { data, identity } if is_same(identity.as_deref()) => {
                AuthAnswer::Success { data: data.as_deref() }
            }
            Verdict::Refuse { reason, .. } => AuthAnswer::Failure(*reason),
            _ => AuthAnswer::Failure(ReasonCode::NotAuthorized),
        };
        if let AuthAnswer::Failure(_) = answer {
            self.counters.hooks.refused(HookName::Auth);
        }
        if let Some(Err(close)) = self.clients.with(session, |session, io| session.authenticated(&answer, io)) {
            self.close(index, &close);
        }
    }
}

fn auth_call(question: &AuthQuestion<'_>, client: Arc<HookClient>, again: bool) -> HookCall {
    HookCall::Auth(Box::new(AuthCall {
        client,
        method: question.method.to_owned(),
        data: question.data.map(<[u8]>::to_vec),
        is_first: question.is_first,
        again,
    }))
}
