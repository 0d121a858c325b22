//! What a shard has to say of who came and who was refused: in the audit trail, and to the operator at a bounded rate.

use lapwing_access::{Identity, Voucher};
use lapwing_codec::{Connect, ReasonCode, Version};
use lapwing_session::SessionKey;
use serde_json::{Value, json};

use crate::audit::{AuditEvent, Refusal, told};
use crate::events::Happened;
use crate::hooks::HookClient;
use crate::notices::NoticeKind;
use crate::shard::Shard;

impl Shard {
    /// A client has a session.
    pub(in crate::shard) fn audit_connected(
        &self,
        index: usize,
        client: &HookClient,
        identity: &Identity,
        session_present: bool,
    ) {
        self.shared.audit.happened(|| {
            AuditEvent::now(
                "connected",
                json!({
                    "client_id": told(&client.client_id), "username": client.identity.as_deref().map(told),
                    "by": by(identity.voucher()), "address": client.address, "listener": self.listener_url(index),
                    "protocol": client.version, "session_present": session_present,
                }),
            )
        });
    }

    /// Its connection is over.
    pub(in crate::shard) fn audit_disconnected(&self, client: &HookClient, reason: Option<ReasonCode>) {
        self.shared.audit.happened(|| {
            AuditEvent::now(
                "disconnected",
                json!({
                    "client_id": told(&client.client_id), "username": client.identity.as_deref().map(told),
                    "address": client.address, "reason": reason.map(ReasonCode::name),
                }),
            )
        });
    }

    /// Tells the operator that somebody was not let in. What he says of himself is not proved.
    pub(in crate::shard) fn tell_refused(&mut self, index: usize, connect: &Connect<'_>, reason: ReasonCode) {
        let is_told = self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let name = connect.username.map(|name| format!(" that says it is {:?}", told(name))).unwrap_or_default();
            let (id, address, listener) = (told(connect.client_id), self.address(index), self.listener_url(index));
            let text = format!("refused client {id:?}{name} from {address} at {listener}: {reason}");
            let facts = json!({
                "event": "refused", "client_id": id, "claimed_username": connect.username.map(told),
                "address": address, "listener": listener, "protocol": connect.version.level(),
                "reason": reason.name(), "reason_code": reason.value(),
            });
            (text, facts)
        });
        if is_told && self.operators.happenings.is_on() {
            let (address, version) = (self.address(index), connect.version.level());
            let client = HookClient { client_id: told(connect.client_id).into(), identity: None, address, version };
            let (name, listener) = (connect.username.map(told), self.listener_url(index).to_owned());
            let claimed = name.as_deref();
            self.note_event(&client, &Happened::Refused { reason, claimed, listener: &listener });
        }
    }

    /// The same, in the audit trail.
    pub(in crate::shard) fn audit_refused(&self, index: usize, connect: &Connect<'_>, reason: ReasonCode) {
        self.shared.audit.refused(Refusal::Connect, self.now_ms, || {
            AuditEvent::now(
                "refused",
                json!({
                    "client_id": told(connect.client_id), "claimed_username": connect.username.map(told),
                    "address": self.address(index), "listener": self.listener_url(index),
                    "protocol": connect.version.level(), "reason": reason.name(),
                }),
            )
        });
    }

    /// A client may not publish to `topic`, or subscribe to it.
    pub(in crate::shard) fn audit_forbidden(&mut self, key: SessionKey, what: Refusal, topic: &str) {
        let Some(row) = self.clients.row(key) else { return };
        let (client_id, identity, index) =
            (row.session.shared_client_id().clone(), row.standing.identity.clone(), row.connection());
        let address = || index.map(|index| self.address(index)).unwrap_or_default();
        let (event, verb) = match what {
            Refusal::Subscribe => ("subscribe_refused", "subscribe"),
            _ => ("publish_refused", "publish"),
        };
        let is_told = self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let name = identity.name().map_or_else(|| "anonymous".to_owned(), |name| format!("{:?}", told(name)));
            let text = format!(
                "client {:?} ({name}) from {} may not {verb} to {:?}",
                told(&client_id),
                address(),
                told(topic)
            );
            let reason = ReasonCode::NotAuthorized;
            let facts = json!({
                "event": event, "client_id": told(&client_id), "username": identity.name().map(told),
                "address": address(), "topic": told(topic), "reason": reason.name(), "reason_code": reason.value(),
            });
            (text, facts)
        });
        self.shared.audit.refused(what, self.now_ms, || {
            AuditEvent::now(
                event,
                json!({
                    "client_id": told(&client_id), "username": identity.name().map(told), "address": address(),
                    "topic": told(topic),
                }),
            )
        });
        let Some(client) = self.clients.peek(key).and_then(|row| row.standing.who.clone()) else { return };
        if is_told {
            self.note_event(&client, &Happened::Forbidden { what: verb, topic: &told(topic) });
        }
    }

    /// The same for the log, as all that is told here at a bounded rate.
    pub(in crate::shard) fn tell_connected(
        &self,
        index: usize,
        key: SessionKey,
        version: Version,
        session_present: bool,
    ) {
        self.shared.notices.tell_with(NoticeKind::Clients, self.now_ms, || {
            let session = if session_present { "goes on with its session" } else { "new session" };
            let (who, listener) = (self.called(key), self.listener_url(index));
            let text = format!(
                "{who} connected from {} at {listener}: MQTT {}, {session}",
                self.address(index),
                version.name()
            );
            let mut facts = self.facts_of("connected", key, index);
            facts["protocol"] = version.level().into();
            facts["session_present"] = session_present.into();
            (text, facts)
        });
    }

    /// A client's connection is over; `reason`: none when it broke without a word.
    ///
    /// `is_unread`: it had sent something that was not read.
    pub(in crate::shard) fn tell_disconnected(
        &self,
        index: usize,
        key: SessionKey,
        reason: Option<ReasonCode>,
        is_unread: bool,
    ) {
        self.shared.notices.tell_with(NoticeKind::Clients, self.now_ms, || {
            let why = match reason {
                None => "the connection broke".to_owned(),
                Some(ReasonCode::Success) => "it said goodbye".to_owned(),
                Some(reason) => reason.to_string(),
            };
            let (since_ms, bytes_in, bytes_out) = self.clients.look(index).map_or((self.now_ms, 0, 0), |connection| {
                (connection.open_since_ms, connection.bytes_in, connection.bytes_out)
            });
            let seconds = self.now_ms.saturating_sub(since_ms) as f64 / 1000.0;
            let who = self.called_from(key, index);
            let unread = if is_unread { "; what it had sent last was not read" } else { "" };
            let text = format!("{who} left after {seconds:.1} s, {bytes_in} bytes in, {bytes_out} out: {why}{unread}");
            let mut facts = self.facts_of("disconnected", key, index);
            facts["seconds"] = seconds.into();
            facts["bytes_in"] = bytes_in.into();
            facts["bytes_out"] = bytes_out.into();
            facts["reason"] = reason.map(ReasonCode::name).into();
            facts["reason_code"] = reason.map(ReasonCode::value).into();
            facts["unread"] = is_unread.into();
            (text, facts)
        });
    }

    /// Somebody speaks something else than this listener does.
    pub(in crate::shard) fn tell_spoken(&self, index: usize, speaks: Option<&'static str>) {
        let Some(speaks) = speaks else { return };
        self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let (address, listener) = (self.address(index), self.listener_url(index));
            let text =
                format!("{address} speaks {speaks} at {listener}, which has none: another port or scheme is meant");
            (text, json!({"event": "refused", "address": address, "listener": listener, "speaks": speaks}))
        });
    }

    /// A client by name, for programs: whatever else a line says comes beside it.
    pub(in crate::shard) fn facts_of(&self, event: &str, key: SessionKey, index: usize) -> Value {
        let row = self.clients.peek(key);
        json!({
            "event": event, "client_id": row.map(|row| told(row.session.client_id())),
            "username": row.and_then(|row| row.standing.identity.name()).map(told),
            "address": self.address(index), "listener": self.listener_url(index),
        })
    }

    /// A client with its id and its name.
    fn called(&self, key: SessionKey) -> String {
        let Some(row) = self.clients.peek(key) else { return "a client".to_owned() };
        let identity = &row.standing.identity;
        let name = identity.name().map_or_else(|| "anonymous".to_owned(), |name| format!("{:?}", told(name)));
        format!("client {:?} ({name})", told(row.session.client_id()))
    }

    /// The same, and where its connection comes from.
    pub(in crate::shard) fn called_from(&self, key: SessionKey, index: usize) -> String {
        format!("{} from {}", self.called(key), self.address(index))
    }

    fn address(&self, index: usize) -> String {
        self.clients.look(index).map(|connection| connection.socket.peer().to_string()).unwrap_or_default()
    }

    fn listener_url(&self, index: usize) -> &str {
        self.clients.look(index).map_or("", |connection| &self.shared.listener(connection.listener).url)
    }
}

const fn by(voucher: Voucher) -> &'static str {
    match voucher {
        Voucher::Nobody => "anonymous",
        Voucher::Users => "users",
        Voucher::Certificate => "certificate",
        Voucher::Hook => "hook",
        Voucher::Token => "token",
        Voucher::Check => "check",
    }
}
