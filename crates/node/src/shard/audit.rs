//! What a shard has to say of who came and who was refused: in the audit trail, and to the operator at a bounded rate.

use lapwing_access::{Identity, Voucher, may_be_token};
use lapwing_codec::{Connect, ReasonCode};
use lapwing_session::SessionKey;
use serde_json::json;

use super::Shard;
use crate::audit::{AuditEvent, Refusal, cut};
use crate::hooks::HookClient;
use crate::notices::NoticeKind;

impl Shard {
    /// A client has a session.
    pub(super) fn audit_connected(
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
                    "client_id": cut(&client.client_id), "username": client.identity.as_deref().map(cut),
                    "by": by(identity.voucher()), "address": client.address, "listener": self.listener_url(index),
                    "protocol": client.version, "session_present": session_present,
                }),
            )
        });
    }

    /// Its connection is over.
    pub(super) fn audit_disconnected(&self, client: &HookClient, reason: Option<ReasonCode>) {
        self.shared.audit.happened(|| {
            AuditEvent::now(
                "disconnected",
                json!({
                    "client_id": cut(&client.client_id), "username": client.identity.as_deref().map(cut),
                    "address": client.address, "reason": reason.map(ReasonCode::name),
                }),
            )
        });
    }

    /// Tells the operator that somebody was not let in. What he says of himself is not proved.
    pub(super) fn tell_refused(&self, index: usize, connect: &Connect<'_>, reason: ReasonCode) {
        self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let name = connect.username.map(|name| format!(" that says it is {:?}", claimed(name))).unwrap_or_default();
            let (id, address, listener) = (cut(connect.client_id), self.address(index), self.listener_url(index));
            format!("refused client {id:?}{name} from {address} at {listener}: {}", reason.name())
        });
    }

    /// The same, in the audit trail.
    pub(super) fn audit_refused(&self, index: usize, connect: &Connect<'_>, reason: ReasonCode) {
        self.shared.audit.refused(Refusal::Connect, self.now_ms, || {
            AuditEvent::now(
                "refused",
                json!({
                    "client_id": cut(connect.client_id), "claimed_username": connect.username.map(claimed),
                    "address": self.address(index), "listener": self.listener_url(index),
                    "protocol": connect.version.level(), "reason": reason.name(),
                }),
            )
        });
    }

    /// A client may not publish to `topic`, or subscribe to it.
    pub(super) fn audit_forbidden(&mut self, key: SessionKey, what: Refusal, topic: &str) {
        let Some(entry) = self.clients.entry(key) else { return };
        let (client_id, identity, index) = (entry.client_id.clone(), entry.standing.identity.clone(), entry.connection);
        let address = || index.map(|index| self.address(index)).unwrap_or_default();
        let (event, verb) = match what {
            Refusal::Subscribe => ("subscribe_refused", "subscribe"),
            _ => ("publish_refused", "publish"),
        };
        self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let name = identity.name().map_or_else(|| "anonymous".to_owned(), |name| format!("{:?}", cut(name)));
            format!("client {:?} ({name}) from {} may not {verb} to {:?}", cut(&client_id), address(), cut(topic))
        });
        self.shared.audit.refused(what, self.now_ms, || {
            AuditEvent::now(
                event,
                json!({
                    "client_id": cut(&client_id), "username": identity.name().map(cut), "address": address(),
                    "topic": cut(topic),
                }),
            )
        });
    }

    fn address(&self, index: usize) -> String {
        self.clients.look(index).map(|connection| connection.socket.peer().to_string()).unwrap_or_default()
    }

    fn listener_url(&self, index: usize) -> &str {
        self.clients.look(index).map_or("", |connection| &self.shared.listener(connection.listener).url)
    }
}

/// A user name that nobody has proved; a token in its place is not shown.
fn claimed(name: &str) -> String {
    if may_be_token(name) { "(a token)".into() } else { cut(name) }
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
