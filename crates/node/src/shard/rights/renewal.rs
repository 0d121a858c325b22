//! Users and rules were changed: every client goes on under what it may now, and who may not be here any more goes.

use lapwing_access::Identity;
use lapwing_codec::ReasonCode;
use lapwing_session::SessionKey;

use crate::notices::NoticeKind;
use crate::shard::Shard;
use crate::shard::connect::given_id::is_given;
use crate::shard::rights::permissions::{Permissions, permits};
use crate::shard::rights::taken_back::TakenBack;

impl Shard {
    /// Makes all permissions again if users or rules were changed, while the node ran or while it did not; called in each turn,
    /// before anything else that a session could take part in.
    pub(in crate::shard) fn renew_permissions(&mut self) {
        let version = Some(self.shared.authority.version());
        if self.rights.permissions_version != version {
            self.rights.permissions_version = version;
            self.renew_all();
        }
        if self.owes_expulsions() {
            self.rights.expelled_version = version;
            self.expel_unwelcome();
        }
    }

    /// All sessions under the new rules. What they lose nobody else tells: their clients hear nothing of it, and a reload that
    /// permits it again brings it not back.
    fn renew_all(&mut self) {
        let mut taken_back = TakenBack::default();
        for key in self.clients.session_keys() {
            let Some(row) = self.clients.row(key) else { continue };
            let (identity, client_id) = (row.standing.identity.clone(), row.session.shared_client_id().clone());
            taken_back.add(&client_id, &self.renew(key, &identity));
        }
        if let Some(line) = taken_back.line() {
            self.shared.notices.tell_with(NoticeKind::Lost, self.now_ms, || line);
        }
    }

    /// Whether sessions may be there whose users are not welcome any more. At the start they go when clients may come: their
    /// wills must reach sessions of every shard, and before, their subscriptions are not known here.
    pub(in crate::shard) fn owes_expulsions(&self) -> bool {
        self.connections.is_listening && self.rights.expelled_version != Some(self.shared.authority.version())
    }

    fn expel_unwelcome(&mut self) {
        for key in self.clients.session_keys() {
            let Some(row) = self.clients.row(key) else { continue };
            let (identity, authority) = (&row.standing.identity, &self.shared.authority);
            let client_id = row.session.client_id();
            if !authority.still_knows(identity) {
                self.expel(key, ReasonCode::NotAuthorized, "the user was removed");
            } else if !authority.may_connect(identity, client_id, is_given(client_id)) {
                self.counters.access.revoked.add(1);
                self.expel(key, ReasonCode::NotAuthorized, "its client id is not permitted any more");
            }
        }
    }

    /// A session that goes on, under what its client may now: the rules that come with a client may be others each time.
    pub(in crate::shard) fn renew_continued(&mut self, key: SessionKey, former: &Identity) {
        let Some(row) = self.clients.row(key) else { return };
        let identity = row.standing.identity.clone();
        if former.own_rules().are_there() || identity.own_rules().are_there() {
            self.renew(key, &identity);
        }
    }

    /// One session under the new rules: what it may not have any more is taken back, also while it has no connection. Returns
    /// the filters of subscriptions that were.
    fn renew(&mut self, key: SessionKey, identity: &Identity) -> Vec<String> {
        let may_be_told = self.may_be_told(identity);
        let Some(row) = self.clients.row(key) else { return Vec::new() };
        let rights = self.shared.authority.rights(identity, row.session.client_id());
        let mut removed = Vec::new();
        let mut has_lost_will = false;
        let has_lost_envelope = !may_be_told && row.session.revoke_envelope();
        if let Some(rights) = &rights {
            let keep = |filter: &str| rights.may_subscribe(filter);
            row.session.revoke(keep, |subscription| removed.push(subscription.filter.to_owned()));
            let bridges = self.shared.config.limits.mqtt_bridges;
            let mut permissions = Box::new(Permissions::new(rights.clone()));
            has_lost_will = row.session.revoke_will(|topic| permits(Some(&mut permissions), topic, bridges));
        }
        let connection = row.connection();
        if let Some(connection) = connection.and_then(|index| self.clients.connection(index)) {
            connection.permissions = rights.map(|rights| Box::new(Permissions::new(rights)));
        }
        if has_lost_will {
            self.keep_without_will(key);
        }
        let revoked = u64::from(has_lost_envelope) + u64::from(has_lost_will);
        self.counters.access.revoked.add(revoked + removed.len() as u64);
        self.withdraw_filters(key, &removed);
        removed
    }

    /// Ends a session, and its connection for the `reason` given; its will is published.
    pub(in crate::shard) fn expel(&mut self, key: SessionKey, reason: ReasonCode, what: &'static str) {
        let connection = self.clients.row(key).and_then(|row| row.connection());
        if let Some(index) = connection {
            self.dismiss(index, reason, what);
        }
        // It may have ended with its connection.
        if self.clients.row(key).is_some() {
            self.left_offline();
            self.remove_session(key);
            self.count_sessions();
        }
    }
}
