//! The thread of a link: connects, serves, and connects again.

use super::back_off::BackOff;
use super::connection::Connection;
use super::incoming::Heard;
use super::settings::LinkOptions;
use super::shared::Shared;
use super::state::{Closing, Phase};
use crate::address::Address;
use crate::error::ClientError;
use crate::protocol::Protocol;
use crate::wire::Wire;
use lapwing_codec::ReasonCode;
use std::sync::Arc;
use std::time::Instant;

/// See the module.
#[derive(Debug)]
pub(crate) struct Thread {
    address: Address,
    options: LinkOptions,
    shared: Arc<Shared>,
    protocol: Protocol,
    back_off: BackOff,
    started: Instant,
    /// A connection before this one stood.
    was_connected: bool,
}

impl Thread {
    pub fn new(address: Address, options: LinkOptions, shared: Arc<Shared>) -> Self {
        let protocol = Protocol::new(options.connect.version, options.send.window, true);
        let back_off = BackOff::new(options.back_off_first, options.back_off_longest);
        Self { address, options, shared, protocol, back_off, started: Instant::now(), was_connected: false }
    }

    /// Until the link is closed or cannot go on.
    pub fn run(mut self) {
        loop {
            let ended = self.connect().and_then(|connection| connection.serve());
            match ended {
                Ok(()) => return self.end(None),
                Err(error) if self.is_final(&error) => return self.end(Some(error)),
                Err(_) => {}
            }
            if !self.pause() {
                return self.end(None);
            }
        }
    }

    fn connect(&mut self) -> Result<Connection<'_>, ClientError> {
        let now = Instant::now();
        let ready_by = now + self.options.connect_timeout;
        let mut wire = Wire::connect(&self.address, &self.options.connect.tls, ready_by)?;
        let now_ms = self.started.elapsed().as_millis() as u64;
        self.protocol.connect(&self.options.connect, now_ms, &mut wire.output)?;
        wire.unblock()?;
        Ok(Connection {
            wire,
            protocol: &mut self.protocol,
            shared: &self.shared,
            options: &self.options,
            started: self.started,
            ready_by,
            is_ready: false,
            is_up: false,
            heard: Heard::default(),
            has_leftovers: false,
            // What a broker says out of turn may have come with the handshake.
            has_unread: true,
            done: Vec::new(),
            publications: Vec::new(),
            first_number: 0,
            unreported: 0,
            reported_at: None,
            high_again_at: None,
        })
    }

    /// Notes that the connection is gone. True if another attempt would be in vain, or nobody wants one.
    fn is_final(&mut self, error: &ClientError) -> bool {
        self.protocol.lost();
        let mut state = self.shared.lock();
        if state.phase == Phase::Up {
            // A broker that refuses a subscription may take the connection each time before it does.
            if !matches!(error, ClientError::Rejected { .. }) {
                self.back_off.reset();
            }
            // From now on the session counts: what is in it must not be thrown away. In 3.1.1 a session that is not
            // clean would stay for ever.
            self.options.connect.clean_start &= !self.protocol.version().has_properties();
        }
        let was_connected = state.count.connections > 0;
        let is_first = !std::mem::replace(&mut self.was_connected, was_connected);
        state.lost();
        self.shared.tell(&mut state);
        let is_passing = match error {
            // Nobody has had this subscription yet.
            ClientError::Rejected { .. } if is_first => false,
            other => is_passing(other),
        };
        state.closing != Closing::No && state.is_answered() || !was_connected || !is_passing
    }

    /// Waits before the next attempt; false if the link is closed meanwhile.
    fn pause(&mut self) -> bool {
        let until = Instant::now() + self.back_off.pause();
        loop {
            let over = {
                let mut state = self.shared.lock();
                state.asleep = true;
                match state.closing {
                    Closing::No => until,
                    Closing::Until(at) if !state.is_answered() => until.min(at),
                    _ => return false,
                }
            };
            let left = over.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let closing = self.shared.lock().closing;
                return !matches!(closing, Closing::Until(at) if at <= Instant::now());
            }
            if self.shared.bell.wait(None, Some(left)).is_err() {
                return false;
            }
        }
    }

    fn end(self, error: Option<ClientError>) {
        let mut state = self.shared.lock();
        state.phase = Phase::Over;
        // Whoever closes a link does not want to hear how it broke meanwhile.
        if state.closing == Closing::No {
            state.failure = error.map(Arc::new);
        }
        self.shared.wake_all(&mut state);
    }
}

/// Whether a broker that took us once may take us again.
fn is_passing(error: &ClientError) -> bool {
    use ReasonCode as R;
    match error {
        // What TLS or a proxy says while a broker starts again may pass as a refused connection does.
        ClientError::Tls(_) | ClientError::WebSocket(_) => true,
        // A group ends the connection of a member that stalls; another client with our name would only come back, too.
        ClientError::Disconnected { reason, .. } => !matches!(
            reason,
            R::SessionTakenOver
                | R::NotAuthorized
                | R::Banned
                | R::BadAuthenticationMethod
                | R::ServerMoved
                | R::ProtocolError
                | R::MalformedPacket
        ),
        // A broker that starts again, or whose hook is slow once, may say so of a subscription that it takes later.
        ClientError::Rejected { reason, .. } => is_passing_refusal(*reason),
        other => other.is_temporary(),
    }
}

/// Whether a subscription that was refused so may be taken later: the reason is neither a right nor the filter. In 3.1.1
/// a broker has one code for all.
pub(super) fn is_passing_refusal(reason: ReasonCode) -> bool {
    use ReasonCode as R;
    matches!(reason, R::UnspecifiedError | R::ImplementationSpecificError | R::QuotaExceeded)
}
