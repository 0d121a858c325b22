//! The first packet of a connection: CONNECT, or nothing.

pub(super) mod another_will;
pub(super) mod delayed;
pub(super) mod exchange;
pub(super) mod given_id;
pub(super) mod hear_out;
pub(super) mod judge;
pub(super) mod takeover;

use std::sync::Arc;
use std::time::Instant;

use lapwing_codec::{Connect, Packet, ProtocolError, ReasonCode, Version, announced_len, decode};
use lapwing_session::{Admission, Session, Settings, admit, refuse_connect, refuse_malformed};

use super::connect::judge::Stop;
use super::connections::connection::Stage;
use super::connections::in_hand::InHand;
use super::connections::serve::Flow;
use super::durable::keeping::KeptAs;
use super::groups::Membership;
use super::rights::permissions::Permissions;
use super::rights::standing::Standing;
use super::{Due, Shard};
use crate::events::Happened;
use crate::holder::Holder;
use crate::hooks::{HookCall, HookName};
use crate::slot::Slot;
use crate::strangers::Ending;
use crate::timers::NEVER;

impl Shard {
    /// The first packet; `bytes` begin with it and hold all that was read.
    pub(super) fn first_packet(&mut self, index: usize, packet: &Packet<'_>, bytes: &[u8]) -> Flow {
        match packet {
            _ if self.exchange(index).is_some_and(|exchange| !exchange.connect.is_empty()) => {
                self.next_step(index, packet)
            }
            Packet::Connect(connect) => self.connect_packet(index, connect, packet, bytes),
            // Who was asked to show itself goes instead.
            Packet::Disconnect(_) if self.awaits_word(index) => {
                self.finish_connection(index);
                Flow::Gone
            }
            _ => {
                // [MQTT-3.1.0-1]; before a CONNECT there is no version to answer in.
                self.counters.closed(ReasonCode::ProtocolError);
                self.finish_connection(index);
                Flow::Gone
            }
        }
    }

    /// The next packet of a client whose CONNECT waits for the end of its authentication.
    fn next_step(&mut self, index: usize, packet: &Packet<'_>) -> Flow {
        let kept = self.exchange(index).map(|exchange| std::mem::take(&mut exchange.connect)).unwrap_or_default();
        let limits = self.client_settings(index).limits.clone();
        // It was decoded before; the same limits take it again.
        let Ok(Some((Packet::Connect(connect), _))) = decode(&kept, Version::V5, &limits) else {
            self.finish_connection(index);
            return Flow::Gone;
        };
        let flow = self.connect_packet(index, &connect, packet, &kept);
        if let Some(exchange) = self.exchange(index) {
            exchange.connect = kept;
        }
        flow
    }

    /// A CONNECT, or its client's next step in `packet`; `bytes` begin with the CONNECT.
    fn connect_packet(&mut self, index: usize, connect: &Connect<'_>, packet: &Packet<'_>, bytes: &[u8]) -> Flow {
        let settings = self.settings_for(index, connect.client_id);
        let mut admission = match admit(connect, &settings, || self.id_for(index)) {
            Ok(admission) => admission,
            Err(close) => return self.refuse(index, connect, close.reason, Some(close.what)),
        };
        self.share_id(index, &mut admission);
        self.connections.in_hand = InHand::Connect(admission.client_id.clone());
        if self.draining {
            return self.refuse(index, connect, ReasonCode::ServerUnavailable, Some("the server shuts down"));
        }
        if self.refuses_connections() {
            return self.refuse(index, connect, ReasonCode::QuotaExceeded, Some("the broker has no memory to spare"));
        }
        let owner = self.shared.placement.owner_of(Slot::of(admission.client_id.as_bytes())).shard;
        if owner != self.id {
            self.move_connection(index, owner, bytes);
            return Flow::Gone;
        }
        if let Some(what) = self.lapsed_certificate(index) {
            return self.refuse(index, connect, ReasonCode::NotAuthorized, Some(what));
        }
        let standing = match self.judge_connect(index, connect, &admission, packet) {
            Ok(standing) => standing,
            Err(stop) => return self.stop_connect(index, connect, stop, bytes),
        };
        let permissions = match self.permit_connect(index, connect, &standing.identity, &admission.client_id) {
            Ok(permissions) => permissions,
            Err(reason) => return self.refuse(index, connect, reason, None),
        };
        if self.must_show_itself(index, connect, &admission.client_id) {
            return self.ask_for_word(index, standing);
        }
        if self.must_hear_former(index, &admission.client_id)
            || self.must_wait_for_will(index, &admission.client_id, &standing.identity, connect.clean_start)
        {
            self.shared.shares.sessions.give_back(Holder::of(&standing.identity));
            if let Some(connection) = self.clients.connection(index) {
                connection.gate_mut().candidate.judged = Some(standing);
            }
            return Flow::Asked;
        }
        let proof = self.exchange(index).and_then(|exchange| exchange.passed.take()).and_then(|passed| passed.data);
        let admission = match admission.with_auth_data(proof.as_deref(), connect, &settings) {
            Ok(admission) => admission,
            Err(close) => {
                self.shared.shares.sessions.give_back(Holder::of(&standing.identity));
                return self.refuse(index, connect, close.reason, Some(close.what));
            }
        };
        let admission = self.with_envelope(admission, connect, &standing.identity);
        self.open_session(index, connect, &admission, standing, permissions);
        Flow::Continue
    }

    /// What holds for a client. One that the broker gave its id comes back with it, be it longer than those of others may be.
    pub(super) fn settings_for(&mut self, index: usize, client_id: &str) -> Arc<Settings> {
        let settings = self.client_settings(index).settings.clone();
        if client_id.len() <= usize::from(settings.client_id_bytes_max) || !given_id::is_given(client_id) {
            return settings;
        }
        Arc::new(Settings { client_id_bytes_max: u16::MAX, ..(*settings).clone() })
    }

    /// A CONNECT that does not lead to a session now, or at all.
    fn stop_connect(&mut self, index: usize, connect: &Connect<'_>, stop: Stop, bytes: &[u8]) -> Flow {
        match stop {
            Stop::Asked => Flow::Asked,
            Stop::Challenged => {
                let len = announced_len(bytes).unwrap_or(bytes.len()).min(bytes.len());
                if let Some(exchange) = self.exchange(index) {
                    exchange.connect = bytes[..len].to_vec();
                }
                Flow::Continue
            }
            Stop::Left => {
                self.counters.closes_network.add(1);
                self.finish_connection(index);
                Flow::Gone
            }
            Stop::Later(denied) => self.refuse_later(index, connect, denied),
            Stop::Refused { reason, text } => self.refuse(index, connect, reason, text.as_deref()),
        }
    }

    /// `words`: for people, to 5.0 clients.
    pub(super) fn refuse(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        reason: ReasonCode,
        words: Option<&str>,
    ) -> Flow {
        self.counters.closed(reason);
        self.tell_refused(index, connect, reason);
        self.audit_refused(index, connect, reason);
        if let Some(connection) = self.clients.connection(index) {
            refuse_connect(connect, reason, words, &mut connection.output);
        }
        self.finish_connection(index);
        Flow::Gone
    }

    /// An id that nobody has and that lives on this shard, so that the connection need not move.
    pub(super) fn assign_id(&self) -> String {
        loop {
            let id = given_id::of(random());
            if self.shared.placement.owner_of(Slot::of(id.as_bytes())).shard == self.id {
                return id;
            }
        }
    }

    fn open_session(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        admission: &Admission,
        standing: Standing,
        permissions: Option<Box<Permissions>>,
    ) {
        let existing = self.take_existing(&admission.client_id, &standing.identity);
        let former = existing.as_ref().map_or_else(KeptAs::default, |row| *row.kept_as);
        let former_identity = existing.as_ref().map(|row| row.standing.identity.clone());
        let begun = self.clients.connection(index).map_or(0, |connection| connection.output.len());
        let timer_ms = existing.as_ref().map_or(NEVER, |row| row.timer_ms);
        let (mut away, mut rest) = (None, None);
        let existing = existing.map(|row| {
            away = row.away;
            rest = Some((row.membership, row.standing.who));
            row.session
        });
        let key = self.clients.next_key();
        let now_ms = self.now_ms;
        let settings = self.client_settings(index).settings.clone();
        let Some(opened) =
            self.clients.open(index, |io| Session::open(connect, admission, key, &settings, existing, now_ms, io))
        else {
            self.shared.shares.sessions.give_back(Holder::of(&standing.identity));
            return;
        };
        let key = opened.session.key();
        // A timer names a session by its key: one that goes on still has the one that was set for it.
        let timer_ms = if opened.session_present { timer_ms } else { NEVER };
        let (who, identity) = (standing.who.clone(), standing.identity.clone());
        let kept = if opened.session_present { rest.take() } else { None };
        let membership = self.membership(index, connect, &opened.session, kept.map(|(membership, _)| membership));
        self.clients.insert_session(opened.session, Some(index), timer_ms, standing, membership);
        if let Some(row) = self.clients.row(key).filter(|_| opened.session_present) {
            row.away = away;
        }
        if let Some(connection) = self.clients.connection(index) {
            connection.stage = Stage::Open { session: key, version: connect.version };
            connection.gate = None;
            connection.permissions = permissions;
            connection.open_since_ms = now_ms;
        }
        self.clients.let_in(index);
        self.watch_proof(index);
        self.counters.traffic.sessions_opened.add(1);
        self.keep_opened(key, begun, opened.session_present, former);
        self.clients.note_waiting(key);
        self.clients.touch(index);
        self.set_timer(key);
        self.start_probes(key);
        if opened.session_present {
            self.tell_back(key);
            if let Some(former) = former_identity {
                self.renew_continued(key, &former);
            }
        }
        if let Some(discarded) = opened.discarded {
            let (membership, who) = rest.unwrap_or_default();
            let holder = self.holder_by(identity.name(), &admission.client_id);
            self.end_session(discarded, &membership, (who.as_ref(), holder), former.is_keeper);
        }
        if let Some(client) = who {
            let session_present = opened.session_present;
            self.note_event(&client, &Happened::Connected { session_present });
            self.audit_connected(index, &client, &identity, session_present);
            self.observe(HookName::Connected, || HookCall::Connected { client, session_present });
        }
        self.tell_connected(index, key, connect.version, opened.session_present);
        self.count_sessions();
    }

    /// What a session that has just been opened has to do with groups; `kept`: what it had before.
    fn membership(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        session: &Session,
        kept: Option<Membership>,
    ) -> Membership {
        let epoch = self.clients.next_epoch();
        let profile = self.profile(index, connect, session);
        kept.unwrap_or_default().connected(epoch, profile)
    }

    /// Bytes that are no packet.
    pub(super) fn malformed(&mut self, index: usize, error: &ProtocolError) {
        let Some(connection) = self.clients.connection(index) else { return };
        match connection.stage {
            Stage::Open { session, .. } => {
                let close = self.clients.with(session, |session, io| session.violated(error, io));
                if let Some(close) = close {
                    self.close(index, &close);
                }
            }
            Stage::Connecting { .. } => {
                refuse_malformed(error, &mut connection.output);
                self.counters.closed(error.reason);
                self.finish_connection(index);
            }
            Stage::Closing => {}
        }
    }

    /// The time for a CONNECT is over.
    pub(super) fn connect_timeout(&mut self, index: usize, born: u64) {
        let Some(connection) = self.clients.connection(index).filter(|c| c.born == born) else { return };
        if connection.is_connecting() {
            if !self.awaits_word(index) {
                self.counters.closes_connect_timeout.add(1);
                self.tell_ending(index, Ending::Late);
            }
            self.drop_connection(index);
        }
    }

    /// Lets a session's next deadline wake this shard, unless an earlier timer does so anyway.
    pub(super) fn set_timer(&mut self, key: lapwing_session::SessionKey) {
        let Some(row) = self.clients.row(key) else { return };
        let Some(deadline_ms) = row.session.deadline_ms() else { return };
        if deadline_ms < row.timer_ms {
            row.timer_ms = deadline_ms;
            self.timers.add(deadline_ms, Due::Session(key));
        }
    }
}

/// What a client speaks that was given the wrong port or scheme, by its first bytes.
pub(super) fn spoken(first: &[u8]) -> Option<&'static str> {
    match first {
        [0x16, 0x03, ..] => Some("TLS"),
        [b'G', b'E', b'T', b' ', ..] | [b'P', b'O', b'S', b'T', ..] => Some("HTTP"),
        _ => None,
    }
}

/// 128 bits that nobody can guess in advance: the standard library's hash keys are random per process and per call.
fn random() -> u128 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let half = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u128(Instant::now().elapsed().as_nanos());
        u128::from(hasher.finish())
    };
    half() << 64 | half()
}
