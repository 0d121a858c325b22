//! The end of connections, and of the sessions that end with them: wills, expiry.

use crate::events::Happened;
use crate::holder::Holder;
use crate::hooks::{HookCall, HookName};
use crate::identity_shares::{Beyond, HeldPlace};
use crate::passwords::Source;
use crate::shard::connections::connection::{Pause, Stage};
use crate::shard::{Due, Shard};
use crate::strangers::Ending;
use crate::timers::NEVER;
use lapwing_codec::ReasonCode;
use lapwing_session::{Close, Departure, SessionKey, Side};

/// How soon a connection's keep alive is looked at again that has sent, or may have sent, what was not read.
const HELD_AGAIN_MS: u64 = 1000;

impl Shard {
    /// Ends a connection whose session has already said why (the words are in the output buffer).
    pub(in crate::shard) fn close(&mut self, index: usize, close: &Close) {
        self.counters.closed(close.reason);
        if let Some(connection) = self.clients.connection(index) {
            connection.has_left = close.side == Side::Client;
        }
        self.part_session(index, Some(close.reason), false);
        self.finish_connection(index);
    }

    /// Ends a connection by our own decision.
    pub(in crate::shard) fn dismiss(&mut self, index: usize, reason: ReasonCode, what: &'static str) {
        let Some(connection) = self.clients.connection(index) else { return };
        let Stage::Open { session, .. } = connection.stage else { return self.drop_connection(index) };
        let close = self.clients.with(session, |session, io| session.dismiss(reason, what, io));
        match close {
            Some(close) => self.close(index, &close),
            None => self.drop_connection(index),
        }
    }

    /// The peer is gone without a word.
    pub(in crate::shard) fn broken(&mut self, index: usize) {
        let Some(connection) = self.clients.connection(index) else { return };
        if !matches!(connection.stage, Stage::Closing) && !self.awaits_word(index) {
            self.counters.closes_network.add(1);
        }
        self.part(index);
        self.drop_connection(index);
    }

    /// What carries MQTT was misused; the peer was told as far as that goes.
    pub(in crate::shard) fn refused(&mut self, index: usize, refusal: lapwing_transport::Refusal) {
        self.counters.refused(refusal);
        self.tell_ending(index, Ending::Refused(refusal));
        self.part(index);
        self.finish_connection(index);
        if let Some(connection) = self.clients.connection(index) {
            // Behind the last words of what carries it there is no place for MQTT's.
            connection.forget_output();
        }
        self.hang_up(index);
    }

    /// Has the log told how a connection ends below MQTT, or before it.
    pub(in crate::shard) fn tell_ending(&mut self, index: usize, ending: Ending) {
        let Some(connection) = self.clients.connection(index) else { return };
        let (peer, listener) = (connection.socket.peer(), connection.listener);
        self.shared.strangers.ends(ending, peer, &self.shared.listener(listener).url, self.now_ms);
    }

    /// Parts the session from its connection and does what follows from it.
    pub(in crate::shard) fn part(&mut self, index: usize) {
        self.part_session(index, None, false);
    }

    /// `stays`: whatever the number of sessions without connection, because this one gets its next one at once.
    pub(in crate::shard) fn part_session(&mut self, index: usize, reason: Option<ReasonCode>, stays: bool) {
        let Some(connection) = self.clients.connection(index) else { return };
        let Stage::Open { session: key, .. } = connection.stage else { return };
        connection.stage = Stage::Closing;
        let published = connection.published;
        let is_unread = self.ends_unread(index);
        let Some(row) = self.clients.row(key) else { return };
        row.parted(self.now_ms);
        let Departure { will, ended } = row.session.disconnected(self.now_ms);
        if let Some(will) = &will {
            self.durable.owed_wills.owe(&mut row.kept_as, row.session.shared_client_id(), will.publish().qos);
        }
        let (client_id, who) = (row.session.shared_client_id().clone(), row.standing.who.clone());
        let holder = self.holder_of(key);
        self.tell_disconnected(index, key, reason, is_unread);
        self.give_up_parts(index);
        if let Some(client) = who.clone() {
            self.note_event(&client, &Happened::Disconnected { reason, published });
            self.audit_disconnected(&client, reason);
            self.observe(HookName::Disconnected, || HookCall::Disconnected { client, reason });
        }
        if ended || !self.went_offline(index, key, stays) {
            self.remove_session(key);
        } else {
            self.keep_away(key);
            self.tell_lost(key);
            if !stays {
                self.clients.page_out(key);
            }
            self.set_timer(key);
        }
        // Last: a group must not pick the member that has just gone to have its own will.
        if let Some(will) = will {
            self.publish_will(&will, &client_id, who.as_ref(), holder);
        }
        self.count_sessions();
    }

    /// Nothing more is read; what is in the output buffer is written, then the socket is closed.
    pub(in crate::shard) fn finish_connection(&mut self, index: usize) {
        if let Some(connection) = self.clients.connection(index) {
            connection.stage = Stage::Closing;
            connection.paused = None;
            connection.input = Vec::new();
            self.clients.touch(index);
        }
    }

    pub(in crate::shard) fn remove_session(&mut self, key: SessionKey) {
        if let Some(row) = self.clients.remove_session(key) {
            self.shared.shares.sessions.give_back(Holder::of(&row.standing.identity));
            self.end_row(row);
        }
    }

    /// A session's deadline has come: keep alive, will delay, or expiry.
    pub(in crate::shard) fn session_due(&mut self, key: SessionKey, at_ms: u64) {
        // One timer per session counts, the one that it remembers.
        let Some(row) = self.clients.row(key).filter(|row| row.timer_ms == at_ms) else { return };
        row.timer_ms = NEVER;
        let (connection, client_id, who) =
            (row.connection(), row.session.shared_client_id().clone(), row.standing.who.clone());
        if let Some(connection) = connection.and_then(|index| self.clients.connection(index))
            && (connection.paused.is_some() || connection.socket.has_unread())
        {
            // Its packets wait because we do not read them, or because this process stood still (it was stopped, its machine
            // was suspended): silence would be our doing.
            let again_ms = self.now_ms + HELD_AGAIN_MS;
            if let Some(row) = self.clients.row(key) {
                row.timer_ms = again_ms;
            }
            self.timers.add(again_ms, Due::Session(key));
            return;
        }
        let (now_ms, holder) = (self.now_ms, self.holder_of(key));
        let Some(tick) = self.clients.with(key, |session, io| session.tick(now_ms, io)) else { return };
        if let Some(will) = &tick.will {
            self.owe_will(key, will.publish().qos);
        }
        match (tick.close, connection) {
            (Some(close), Some(index)) => self.close(index, &close),
            _ if tick.ended => {
                self.counters.traffic.sessions_expired.add(1);
                self.left_offline();
                self.remove_session(key);
                self.count_sessions();
            }
            _ => self.set_timer(key),
        }
        if let Some(will) = tick.will {
            self.publish_will(&will, &client_id, who.as_ref(), holder);
            if self.will_debt(&client_id).is_none() {
                self.keep_without_will(key);
            }
        }
    }

    /// Connections whose session's queue overflowed under the policy `disconnect`.
    pub(in crate::shard) fn close_overflowing(&mut self) {
        for (key, close) in self.clients.take_overflowing() {
            if let Some(index) = self.clients.row(key).and_then(|row| row.connection()) {
                self.close(index, &close);
            }
        }
    }

    /// Sends all clients away; called in every turn of a draining node, for those that came late too. One that waits for
    /// the log's acknowledgements gets them first, but is read no more.
    pub(in crate::shard) fn drain(&mut self) {
        if !self.draining {
            self.draining = true;
            self.connections.doors.close(self.event_loop.registry());
        }
        for index in self.clients.connection_indexes() {
            let Some(stage) = self.clients.connection(index).map(|connection| connection.stage) else { continue };
            match stage {
                Stage::Closing => self.end_delay(index),
                Stage::Open { session, .. } if self.awaits_commit(session) || self.is_fenced(index) => {
                    self.hold_back(index);
                }
                _ => self.dismiss(index, self.leaving_reason(), "the server shuts down"),
            }
        }
    }

    /// Why clients have to leave a node that drains; they are told where to go, if there is such a place.
    pub(in crate::shard) fn leaving_reason(&self) -> ReasonCode {
        match self.shared.config.server_reference {
            Some(_) if self.shared.config.server_moved => ReasonCode::ServerMoved,
            Some(_) => ReasonCode::UseAnotherServer,
            None => ReasonCode::ServerShuttingDown,
        }
    }

    fn awaits_commit(&mut self, session: SessionKey) -> bool {
        self.clients.row(session).is_some_and(|row| row.session.awaits_commit())
    }

    /// Whether what the client is told next waits for the disk.
    fn is_fenced(&mut self, index: usize) -> bool {
        self.clients.connection(index).is_some_and(|connection| connection.is_fenced())
    }

    fn hold_back(&mut self, index: usize) {
        let Some(connection) = self.clients.connection(index) else { return };
        connection.paused = Some(Pause::Drain);
    }

    /// Counts a session that has no connection any more; false where there is no place for it, or its holder has its share.
    fn went_offline(&mut self, index: usize, key: SessionKey, stays: bool) -> bool {
        let kept = self.has_place_away(index, key, stays) && self.shared.session_went_offline(stays);
        if kept {
            self.counters.sessions_offline.add(1);
        } else {
            self.counters.sessions_not_kept.add(1);
        }
        kept
    }

    /// Whether the holder of a connection may have one more session without, or this is none more.
    fn has_place_away(&mut self, index: usize, key: SessionKey, stays: bool) -> bool {
        let Some(row) = self.clients.row(key).filter(|row| !row.has_place_away() && !stays) else { return true };
        let who = row.standing.identity.shared_name().cloned();
        let Some(connection) = self.clients.connection(index) else { return true };
        let peer = Source::of(connection.socket.peer());
        let Some(holder) = connection.place.as_ref().map(HeldPlace::holder) else { return true };
        match HeldPlace::take(&self.shared.shares.away, holder, self.shared.offline_free()) {
            Ok(place) => {
                if let Some(row) = self.clients.row(key) {
                    row.away.get_or_insert_default().place = Some(place);
                }
                true
            }
            Err(beyond) => {
                self.refused_away(who.as_deref(), peer, beyond);
                false
            }
        }
    }

    fn refused_away(&self, name: Option<&str>, peer: Source, beyond: Beyond) {
        self.counters.limits.refused_share_away.add(1);
        if let (Beyond::Free(held), true) = (beyond, self.shared.shares.away.may_tell(self.now_ms)) {
            let limits = &self.shared.config.limits;
            let (most, times) = (limits.sessions_offline_max, limits.held_times_free_max);
            self.shared.notify(format!(
                "{} has {held} of all sessions without a connection (limits.sessions_offline_max = {most}), more than {times} \
                 times what is free (limits.held_times_free_max): one more ended with its connection",
                name.map_or_else(|| peer.to_string(), str::to_owned)
            ));
        }
    }

    pub(in crate::shard) fn left_offline(&mut self) {
        self.shared.session_left_offline();
        self.counters.sessions_offline.sub(1);
    }

    pub(in crate::shard) fn count_sessions(&mut self) {
        self.counters.sessions.set(self.clients.session_count() as u64);
    }
}
