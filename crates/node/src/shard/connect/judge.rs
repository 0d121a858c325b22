//! Who a client is, and whether it may come in: asked at its CONNECT, before a session is touched.
//!
//! The CONNECT waits at the gate while somebody outside is asked, and is decoded again with the answer; what is known by
//! then lies in the [`Candidate`]. First the broker finds out who it is (certificate, password, enhanced
//! authentication), then `on_connect` has its word. Nothing is taken over before the last answer: whoever has no right to
//! a client id cannot disturb the one who has.

use std::sync::Arc;

use lapwing_access::{Claim, Identity, Judgement, Refusal, Voucher, Work};
use lapwing_codec::{Connect, Packet, ReasonCode};
use lapwing_session::Admission;

use crate::hooks::{ConnectCall, HookCall, HookClient, HookMessage, HookName, Missing, Verdict};
use crate::metrics::Refused;
use crate::passwords::{AskedFor, Denied, Outside, Source};
use crate::shard::Shard;
use crate::shard::connect::exchange::Exchange;
use crate::shard::connections::connection::Stage;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::rights::standing::Standing;
use crate::shard::verdicts::gate::{Asking, Ticket};

/// What is known of a client whose CONNECT waits.
#[derive(Debug, Default)]
pub(crate) struct Candidate {
    /// The id it was given, so that it has the same when its CONNECT is decoded again.
    pub(in crate::shard) assigned_id: Option<Box<str>>,
    /// What became of its password.
    pub(in crate::shard) checked: Option<Result<Identity, Denied>>,
    /// Its enhanced authentication.
    pub(in crate::shard) exchange: Option<Box<Exchange>>,
    /// Who it is, by the last answer; it waits for something else.
    pub(in crate::shard) judged: Option<Standing>,
    /// It may be somewhere else: it has not shown to be at its address.
    pub(in crate::shard) is_unseen: bool,
    /// The id that its listener knows it by, which its session is to keep too.
    pub(in crate::shard) called: Option<Arc<str>>,
    /// So long it waits for what its client has sent on its former connection.
    pub(in crate::shard) hears_former_until_ms: Option<u64>,
}

/// Why a CONNECT does not lead to a session now.
pub(in crate::shard) enum Stop {
    /// Somebody was asked; the packet waits.
    Asked,
    /// The client has to take another step of its authentication.
    Challenged,
    /// The client has gone by itself.
    Left,
    /// No, and it hears of it later.
    Later(Denied),
    /// No.
    Refused { reason: ReasonCode, text: Option<Box<str>> },
}

/// What the broker itself has found out.
enum Finding {
    /// Who it is.
    Known(Identity),
    /// Nothing that could be checked was said, and the listener wants to know; only `on_connect` can let it in.
    Unknown(Refusal),
}

impl Stop {
    pub(in crate::shard) const fn refused(reason: ReasonCode) -> Self {
        Stop::Refused { reason, text: None }
    }
}

impl Candidate {
    /// Nothing has to be remembered any more: an id may be kept twice.
    pub(in crate::shard) const fn is_done(&self) -> bool {
        let is_known = self.assigned_id.is_none() && self.checked.is_none() && self.exchange.is_none();
        is_known && self.judged.is_none() && !self.is_unseen && self.hears_former_until_ms.is_none()
    }
}

impl Shard {
    /// Decides about a CONNECT, as far as that is possible now. `packet`: it, or the AUTH that is the client's next step.
    pub(in crate::shard) fn judge_connect(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        admission: &Admission,
        packet: &Packet<'_>,
    ) -> Result<Standing, Stop> {
        let gate = self.clients.connection(index).and_then(|connection| connection.gate.as_mut());
        if let Some(standing) = gate.and_then(|gate| gate.candidate.judged.take()) {
            return Ok(standing);
        }
        let decided = self
            .identify(index, connect, admission, packet)
            .and_then(|finding| self.consult(index, connect, admission, finding));
        if let Err(Stop::Asked | Stop::Challenged) = decided
            && admission.assigned
            && let Some(connection) = self.clients.connection(index)
        {
            connection.gate_mut().candidate.assigned_id = Some(Box::from(&*admission.client_id));
        }
        decided
    }

    fn identify(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        admission: &Admission,
        packet: &Packet<'_>,
    ) -> Result<Finding, Stop> {
        if connect.properties.auth_method.is_some() {
            let who = self.who(index, connect, admission, &Identity::ANONYMOUS);
            return self.authenticate(index, connect, packet, &who).map(Finding::Known);
        }
        let gate = self.clients.connection(index).and_then(|connection| connection.gate.as_ref());
        if let Some(checked) = gate.and_then(|gate| gate.candidate.checked.clone()) {
            return checked.map(Finding::Known).map_err(|denied| self.deny(denied));
        }
        let Some((certificate, anonymous)) = self.caller(index) else { return Err(Stop::Left) };
        let certificate = certificate.as_deref();
        let claim = Claim { username: connect.username, password: connect.password, certificate, anonymous };
        let can_be_checked = self.shared.authority.checks_credentials() && says_something(connect);
        // Against what is known a guess costs nothing: where passwords are guessed, it waits its turn like any other.
        if can_be_checked && certificate.is_none() && self.is_suspect(index, connect) {
            return Err(self.check_password(index, connect));
        }
        match self.shared.authority.judge(&claim) {
            Judgement::Granted(identity) => Ok(Finding::Known(identity)),
            Judgement::Refused(refusal) if can_be_checked => Err(self.forbid(refusal)),
            Judgement::Refused(refusal) => Ok(Finding::Unknown(refusal)),
            Judgement::Costly(_) => Err(self.check_password(index, connect)),
        }
    }

    /// The name that the client has shown: of its key, or in its certificate, where its listener goes by that; and whether it lets in those without a name.
    fn caller(&mut self, index: usize) -> Option<(Option<String>, bool)> {
        let connection = self.clients.connection(index)?;
        let listener = self.shared.listener(connection.listener);
        let which = listener.identity.certificate_name();
        let socket = &connection.socket;
        let name = socket.key_name().map(str::to_owned);
        let name = name.or_else(|| which.and_then(|which| socket.certificate_name(which)));
        Some((name, listener.anonymous))
    }

    /// Has the password checked where that holds up nobody.
    fn check_password(&mut self, index: usize, connect: &Connect<'_>) -> Stop {
        let work = self.shared.authority.work(connect.username, connect.password);
        if work == Work::Password && (connect.username.is_none() || connect.password.is_none()) {
            return self.forbid(Refusal::BadCredentials);
        }
        let Some(connection) = self.clients.connection(index) else { return Stop::Left };
        let Stage::Connecting { accepted_ms } = connection.stage else { return Stop::Left };
        let source = Source::of(connection.socket.peer());
        let deadline_ms = self.now_ms.max(accepted_ms + self.shared.config.limits.connect_timeout_ms);
        let outside = (work == Work::Outside).then(|| {
            Box::new(Outside {
                client_id: connect.client_id.to_owned(),
                has_username: connect.username.is_some(),
                address: connection.socket.peer().ip().map_or_else(|| "local".to_owned(), |ip| ip.to_string()),
                listener: self.shared.listener(connection.listener).url.clone(),
            })
        });
        let username = match work {
            // Who its bearer says he is does not matter: he is who the token says.
            Work::Token => "",
            Work::Password | Work::Outside => connect.username.unwrap_or_default(),
        };
        let secret = AskedFor { password: connect.password, outside, work };
        match self.verdicts.passwords.ask(index, source, username, secret, deadline_ms) {
            Some(ticket) => {
                self.wait_at_gate(index, Ticket::Password(ticket));
                Stop::Asked
            }
            None => Stop::refused(ReasonCode::QuotaExceeded),
        }
    }

    /// Whether it gives a name and a password and comes from an address where passwords were guessed lately.
    fn is_suspect(&mut self, index: usize, connect: &Connect<'_>) -> bool {
        let has_password = connect.username.is_some() && connect.password.is_some();
        let peer = self.clients.connection(index).filter(|_| has_password).map(|connection| connection.socket.peer());
        peer.is_some_and(|peer| self.verdicts.passwords.suspects(Source::of(peer)))
    }

    fn deny(&mut self, denied: Denied) -> Stop {
        if denied.reason != ReasonCode::QuotaExceeded {
            self.counters.access.refused(Refused::Connect, 1);
        }
        Stop::Later(denied)
    }

    fn forbid(&mut self, refusal: Refusal) -> Stop {
        self.counters.access.refused(Refused::Connect, 1);
        Stop::refused(refusal.reason())
    }

    /// Hears `on_connect`, if there is one.
    fn consult(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        admission: &Admission,
        finding: Finding,
    ) -> Result<Standing, Stop> {
        let Some(hooks) = &self.verdicts.hooks else {
            return match finding {
                Finding::Known(identity) => {
                    let is_watched = self.operators.happenings.is_on() || self.shared.audit.is_on();
                    let who = is_watched.then(|| Arc::new(self.who(index, connect, admission, &identity)));
                    Ok(Standing { identity, who })
                }
                Finding::Unknown(refusal) => Err(self.forbid(refusal)),
            };
        };
        let is_hooked = hooks.wants(HookName::Connect);
        let (identity, refusal) = match finding {
            Finding::Known(identity) => (identity, None),
            Finding::Unknown(refusal) => (Identity::ANONYMOUS, Some(refusal)),
        };
        let who = self.who(index, connect, admission, &identity);
        let verdict = match self.next_verdict(index) {
            _ if !is_hooked => Verdict::Pass,
            Some(verdict) => verdict,
            None => match self.ask(index, vec![connect_call(connect, &who)]) {
                Asking::Asked => return Err(Stop::Asked),
                Asking::Full | Asking::Needless => Verdict::Missing(Missing::QueueFull),
            },
        };
        match (verdict, refusal) {
            (Verdict::Admit(Some(name)), _) => Ok(standing(who, Identity::named(name, Voucher::Hook))),
            (Verdict::Admit(None), _) => Ok(standing(who, identity)),
            (Verdict::Refuse { reason, text }, _) => {
                self.counters.hooks.refused(HookName::Connect);
                Err(Stop::Refused { reason, text })
            }
            (Verdict::Missing(_), _) if !self.passes_unjudged() => Err(Stop::refused(ReasonCode::ServerUnavailable)),
            (_, Some(refusal)) => Err(self.forbid(refusal)),
            (_, None) => Ok(standing(who, identity)),
        }
    }

    /// Hears `on_connect` about the CONNECT of a client that is here already; `Flow::Asked` until there is an answer. Who it is
    /// stays as it was decided when it came.
    pub(in crate::shard) fn consult_again(
        &mut self,
        index: usize,
        client: &Client,
        connect: &Connect<'_>,
    ) -> Result<Flow, ReasonCode> {
        let is_hooked = self.verdicts.hooks.as_ref().is_some_and(|hooks| hooks.wants(HookName::Connect));
        let Some(who) = client.who.as_deref().filter(|_| is_hooked) else { return Ok(Flow::Continue) };
        let verdict = match self.next_verdict(index) {
            Some(verdict) => verdict,
            None => match self.ask(index, vec![connect_call(connect, who)]) {
                Asking::Asked => return Ok(Flow::Asked),
                Asking::Full | Asking::Needless => Verdict::Missing(Missing::QueueFull),
            },
        };
        match verdict {
            Verdict::Refuse { reason, .. } => {
                self.counters.hooks.refused(HookName::Connect);
                Err(reason)
            }
            Verdict::Missing(_) if !self.passes_unjudged() => Err(ReasonCode::ServerUnavailable),
            _ => Ok(Flow::Continue),
        }
    }

    /// A client as hooks see it.
    fn who(&mut self, index: usize, connect: &Connect<'_>, admission: &Admission, identity: &Identity) -> HookClient {
        HookClient {
            client_id: admission.client_id.clone(),
            identity: identity.shared_name().cloned(),
            address: self.clients.connection(index).map(|c| c.socket.peer().to_string()).unwrap_or_default(),
            version: connect.version.level(),
        }
    }

    /// Has `admission` share the id with the listener that knows the client by it.
    pub(in crate::shard) fn share_id(&mut self, index: usize, admission: &mut Admission) {
        let gate = self.clients.connection(index).and_then(|connection| connection.gate.as_ref());
        if let Some(called) = gate.and_then(|gate| gate.candidate.called.as_ref())
            && **called == *admission.client_id
        {
            admission.client_id = called.clone();
        }
    }

    /// The id for a client without one: that of the first decoding of its CONNECT, or a new one.
    pub(in crate::shard) fn id_for(&mut self, index: usize) -> String {
        let gate = self.clients.connection(index).and_then(|connection| connection.gate.as_mut());
        let given = gate.and_then(|gate| gate.candidate.assigned_id.take());
        given.map_or_else(|| self.assign_id(), String::from)
    }
}

/// Whether a CONNECT names a user or brings a password.
const fn says_something(connect: &Connect<'_>) -> bool {
    connect.username.is_some() || connect.password.is_some()
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
        will: connect.will.as_ref().map(|will| HookMessage::of(&will.publish())),
        user_properties: user.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    }))
}
