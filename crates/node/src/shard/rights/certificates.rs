//! Client certificates while their connections last: one that expires, is revoked or leads to no trusted authority any more
//! ends its connection. The session stays, as with any lost connection: its client comes back with a new certificate.
//!
//! Time is seen to by a timer for each connection. After certificates, authorities and revocation lists were read again, all
//! connections are gone through in shares; whoever connects is looked at in any case, for much may change between a
//! handshake and its CONNECT.

use std::time::{Duration, SystemTime};

use lapwing_codec::ReasonCode;
use lapwing_transport::Lapse;

use crate::notices::NoticeKind;
use crate::shard::connections::connection::Stage;
use crate::shard::{Due, Shard};

/// Connections looked at in one turn: some tens of microseconds each, for those that have a certificate.
const CHECKS_PER_TURN: usize = 8;
/// A clock that was set may make a timer come early: it is not asked again sooner than this.
const AGAIN_MS_MIN: u64 = 1000;
/// Nor is it left longer than a month: the clock may have been set forward.
const AGAIN_MS_MAX: u64 = 30 * 24 * 3600 * 1000;

/// What is left to look at after the files were read again.
#[derive(Debug, Default)]
pub(in crate::shard) struct Recheck {
    /// The reading that everybody here was held against.
    version: u64,
    /// Places of connections, and which connection it was.
    waiting: Vec<(usize, u64)>,
    /// Connections that this round has ended.
    ended: u64,
}

/// What a client is told.
fn words(lapse: Lapse) -> &'static str {
    match lapse {
        Lapse::Expired => "the certificate has expired",
        Lapse::Revoked => "the certificate was revoked",
        Lapse::Untrusted => "the certificate's authority is not trusted any more",
        Lapse::Key => "the pre-shared key is not good any more",
    }
}

impl Shard {
    /// Why the certificate of a client that sends its CONNECT is not good any more, in words; counted.
    pub(in crate::shard) fn lapsed_certificate(&mut self, index: usize) -> Option<&'static str> {
        let lapse = self.certificate_lapse(index)?;
        self.counters.access.lapsed(lapse);
        Some(words(lapse))
    }

    fn certificate_lapse(&mut self, index: usize) -> Option<Lapse> {
        self.clients.connection(index)?.socket.certificate_lapse(SystemTime::now())
    }

    /// The client of `index` has a session: its certificate and its token, if it has one, are looked at again when one ends.
    pub(in crate::shard) fn watch_proof(&mut self, index: usize) {
        let granted = self.grant_end(index);
        let Some(connection) = self.clients.connection(index) else { return };
        let (certified, born) = (connection.socket.certificate_expires_at(), connection.born);
        let Some(end) = certified.into_iter().chain(granted).min() else { return };
        let left = end.duration_since(SystemTime::now()).unwrap_or(Duration::ZERO);
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).clamp(AGAIN_MS_MIN, AGAIN_MS_MAX);
        self.timers.add(self.now_ms.saturating_add(left_ms), Due::Proof { index, born });
    }

    /// A certificate or a token should have ended; after the wall clock was set it may not have.
    pub(in crate::shard) fn proof_due(&mut self, index: usize, born: u64) {
        if self.clients.connection(index).is_none_or(|connection| connection.born != born) {
            return;
        }
        match self.certificate_lapse(index) {
            Some(lapse) => self.end_lapsed(index, lapse),
            None if self.end_expired(index) => {}
            None => self.watch_proof(index),
        }
    }

    /// Begins a round if the files were read again.
    pub(in crate::shard) fn begin_recheck(&mut self) {
        let version = self.shared.listeners().version();
        if self.rights.recheck.version == version {
            return;
        }
        let indexes = self.clients.connection_indexes();
        let waiting = indexes.into_iter().filter_map(|index| Some((index, self.clients.connection(index)?.born)));
        self.rights.recheck = Recheck { version, waiting: waiting.collect(), ended: self.rights.recheck.ended };
    }

    /// True when a round is under way, or has to begin.
    pub(in crate::shard) fn has_rechecks(&self) -> bool {
        !self.rights.recheck.waiting.is_empty() || self.rights.recheck.version != self.shared.listeners().version()
    }

    /// Goes on with the round.
    pub(in crate::shard) fn run_rechecks(&mut self) {
        self.begin_recheck();
        if self.rights.recheck.waiting.is_empty() {
            return;
        }
        for _ in 0..CHECKS_PER_TURN {
            let Some((index, born)) = self.rights.recheck.waiting.pop() else { break };
            if self.clients.connection(index).is_some_and(|connection| connection.born == born)
                && let Some(lapse) = self.certificate_lapse(index)
            {
                self.rights.recheck.ended += 1;
                self.end_lapsed(index, lapse);
            }
        }
        if self.rights.recheck.waiting.is_empty() && self.rights.recheck.ended > 0 {
            let ended = std::mem::take(&mut self.rights.recheck.ended);
            self.shared.tell(NoticeKind::Refused, format!(
                "{ended} connections ended: their certificates or keys are not good any more by the files that were read again"
            ));
        }
    }

    /// Ends a connection; who has no session yet is told with its CONNECT.
    fn end_lapsed(&mut self, index: usize, lapse: Lapse) {
        let Some(Stage::Open { .. }) = self.clients.connection(index).map(|connection| connection.stage) else {
            return;
        };
        self.counters.access.lapsed(lapse);
        self.dismiss(index, ReasonCode::NotAuthorized, words(lapse));
    }
}
