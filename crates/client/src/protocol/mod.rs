//! One client's side of one MQTT session, without any I/O: calls and bytes in, bytes and events out.
//!
//! Rules: nothing but CONNECT goes before CONNACK. What comes from the broker is checked against what was asked;
//! an answer nobody asked for is the peer's protocol error. The session outlives its connection: after
//! `Protocol::lost` and a new `Protocol::connect` the unanswered messages go again.

mod again;
mod answers;
mod incoming;
mod send_error;

pub use send_error::SendError;

use crate::error::ClientError;
use crate::inflight::Inflight;
use crate::keep_alive::KeepAlive;
use crate::options::Options;
use crate::received::Received;
use crate::unanswered::Stage;
use lapwing_codec::{
    Ack, Connect, ConnectProperties, Disconnect, DisconnectProperties, EncodeError, Limits, Packet, PacketId, Publish,
    QoS, ReasonCode, Subscribe, SubscribeFilters, SubscribeProperties, SubscriptionId, Unsubscribe, UnsubscribeFilters,
    UserPropertiesBuf, Version, Will, WillProperties,
};

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection, or none that may be used any more.
    Disconnected,
    /// CONNECT is out, CONNACK is not in.
    Connecting,
    /// CONNACK said yes.
    Connected,
}

/// What the broker said it takes.
#[derive(Clone, Copy, Debug)]
struct ServerLimits {
    packet_bytes_max: usize,
    qos_max: QoS,
    retain: bool,
}

/// All there are but 0.
const PACKET_IDS: u32 = u16::MAX as u32;
const NO_LIMITS: ServerLimits = ServerLimits { packet_bytes_max: usize::MAX, qos_max: QoS::ExactlyOnce, retain: true };

/// The protocol of one client.
#[derive(Debug)]
pub struct Protocol {
    version: Version,
    state: State,
    inflight: Inflight,
    received: Received,
    keep_alive: KeepAlive,
    limits: Limits,
    server: ServerLimits,
    /// Messages of QoS 1 and 2 that were handed out on this connection and are not answered, and the most there may be.
    owed: (u32, u32),
    /// Keep encoded publishes until they are answered, to send them again after a reconnection.
    keeps: bool,
    /// What time it is, as far as it was said.
    now_ms: u64,
    /// What the broker has of the session is known here: it was begun, or taken up, by an earlier connection of ours.
    knows_session: bool,
}

impl Protocol {
    /// A client that has at most `window` QoS 1 and 2 publishes unanswered, less if the broker's Receive Maximum is less.
    ///
    /// `keeps`: hold a copy of each until it is answered and send it again after a reconnection.
    pub fn new(version: Version, window: u16, keeps: bool) -> Self {
        Self {
            version,
            state: State::Disconnected,
            inflight: Inflight::new(window),
            received: Received::default(),
            keep_alive: KeepAlive::default(),
            limits: Limits::PROTOCOL,
            server: NO_LIMITS,
            owed: (0, PACKET_IDS),
            keeps,
            now_ms: 0,
            knows_session: false,
        }
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The version spoken.
    pub fn version(&self) -> Version {
        self.version
    }

    /// How many QoS 1 and 2 publishes may be sent now.
    #[inline]
    pub fn room(&self) -> u16 {
        if self.state == State::Connected { self.inflight.room() } else { 0 }
    }

    /// QoS 1 and 2 publishes that the broker has not answered for good.
    pub fn unanswered(&self) -> usize {
        self.inflight.unanswered()
    }

    /// Opens a connection: appends CONNECT to `out`.
    ///
    /// # Errors
    /// `EncodeError`: a string of `options` is too long, or the version cannot say it.
    pub fn connect(&mut self, options: &Options, now_ms: u64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let will = options.will.as_ref().map(|will| Will {
            topic: &will.topic,
            payload: &will.payload,
            qos: will.qos,
            retain: will.retain,
            properties: WillProperties { delay_s: will.delay_s, ..Default::default() },
        });
        let mut user = UserPropertiesBuf::new();
        options.user_properties.iter().try_for_each(|(name, value)| user.push(name, value))?;
        let properties = ConnectProperties {
            user: user.as_ref(),
            session_expiry_s: options.session_expiry_s,
            receive_max: options.receive_maximum.max(1),
            // To say what holds anyway would have the broker measure each packet.
            packet_bytes_max: Some(options.packet_bytes_max).filter(|bytes| *bytes < Limits::PACKET_BYTES_MAX),
            ..Default::default()
        };
        let v5 = options.version.has_properties();
        let connect = Connect {
            version: options.version,
            is_bridge: false,
            clean_start: options.clean_start,
            keep_alive_s: options.keep_alive_s,
            client_id: &options.client_id,
            will,
            username: options.username.as_deref(),
            password: options.password.as_deref(),
            properties: if v5 { properties } else { ConnectProperties::default() },
        };
        Packet::Connect(connect).encode(options.version, out)?;
        if !self.keeps {
            self.forget();
        }
        self.version = options.version;
        self.state = State::Connecting;
        self.limits.packet_bytes_max = options.packet_bytes_max;
        // 3.1.1 has no Receive Maximum; there are no more packet ids than this.
        self.owed = (0, if v5 { options.receive_maximum.max(1).into() } else { PACKET_IDS });
        self.server = NO_LIMITS;
        self.at(now_ms);
        self.keep_alive.start(options.keep_alive_s, now_ms);
        Ok(())
    }

    /// Appends a PUBLISH to `out`. Its `dup` is set here, and at QoS 1 and 2 its `packet_id` unless the caller chose one.
    /// `token` comes back in `acknowledged`.
    ///
    /// # Errors
    /// `WindowFull` for QoS 1 and 2 while `room` is 0; `PacketIdInUse`; nothing was appended.
    pub fn publish(&mut self, mut publish: Publish<'_>, token: u64, out: &mut Vec<u8>) -> Result<(), SendError> {
        if self.state != State::Connected {
            return Err(SendError::NotConnected);
        }
        self.check_against_server(&publish)?;
        publish.dup = false;
        if publish.qos == QoS::AtMostOnce {
            publish.packet_id = None;
            return Ok(publish.encode(self.version, out)?);
        }
        if self.inflight.room() == 0 {
            return Err(SendError::WindowFull);
        }
        let id = self.take_id(Stage::of(publish.qos), publish.packet_id, token)?;
        publish.packet_id = Some(id);
        let start = out.len();
        if let Err(error) = publish.encode(self.version, out) {
            self.inflight.finish(id);
            return Err(error.into());
        }
        if publish.qos == QoS::ExactlyOnce && self.inflight.keep_back(id, &out[start..], self.now_ms) {
            out.truncate(start);
            return Ok(Packet::PubRel(Ack::success(id)).encode(self.version, out)?);
        }
        if self.keeps {
            self.inflight.keep(id, &out[start..], self.now_ms);
        }
        Ok(())
    }

    fn take_id(&mut self, stage: Stage, chosen: Option<PacketId>, token: u64) -> Result<PacketId, SendError> {
        match chosen {
            None => self.inflight.start(stage, token).ok_or(SendError::WindowFull),
            Some(id) if self.inflight.start_as(id, stage, token) => Ok(id),
            Some(id) => Err(SendError::PacketIdInUse(id.get())),
        }
    }

    fn check_against_server(&self, publish: &Publish<'_>) -> Result<(), SendError> {
        if publish.qos > self.server.qos_max {
            return Err(SendError::Unsupported("this QoS"));
        }
        if publish.retain && !self.server.retain {
            return Err(SendError::Unsupported("retained messages"));
        }
        let limit = self.server.packet_bytes_max;
        if limit != usize::MAX && publish.encoded_len(self.version) > limit {
            return Err(SendError::Unsupported("packets this large"));
        }
        Ok(())
    }

    /// Appends a SUBSCRIBE; with `subscription_id` (5.0) the broker names it in each message. `token` comes back in
    /// `subscribed`.
    ///
    /// # Errors
    /// Not connected, no packet id free, or not writable in this version.
    pub fn subscribe(
        &mut self,
        filters: SubscribeFilters<'_>,
        subscription_id: Option<SubscriptionId>,
        token: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        if subscription_id.is_some() && !self.version.has_properties() {
            return Err(SendError::Unsupported("subscription identifiers: MQTT 3.1.1 has none"));
        }
        let properties = SubscribeProperties { subscription_id, ..Default::default() };
        let id = self.control(Stage::SubAck, token, out, |packet_id| {
            Packet::Subscribe(Subscribe { packet_id, properties, filters })
        })?;
        if let Some(entry) = self.inflight.get_mut(id) {
            entry.codes = filters.len();
        }
        Ok(())
    }

    /// Appends an UNSUBSCRIBE. `token` comes back in `unsubscribed`.
    ///
    /// # Errors
    /// As `subscribe`.
    pub fn unsubscribe(
        &mut self,
        filters: UnsubscribeFilters<'_>,
        token: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        let user = Default::default();
        self.control(Stage::UnsubAck, token, out, |packet_id| {
            Packet::Unsubscribe(Unsubscribe { packet_id, user, filters })
        })
        .map(drop)
    }

    fn control<'a>(
        &mut self,
        stage: Stage,
        token: u64,
        out: &mut Vec<u8>,
        packet: impl FnOnce(PacketId) -> Packet<'a>,
    ) -> Result<PacketId, SendError> {
        if self.state != State::Connected {
            return Err(SendError::NotConnected);
        }
        let id = self.inflight.start(stage, token).ok_or(SendError::WindowFull)?;
        match packet(id).encode(self.version, out) {
            Ok(()) => Ok(id),
            Err(error) => {
                self.inflight.finish(id);
                Err(error.into())
            }
        }
    }

    /// Appends DISCONNECT; the connection is over. `reason` `DisconnectWithWill` (5.0) lets the will go out;
    /// `session_expiry_s` (5.0) replaces the session expiry that CONNECT asked for.
    ///
    /// # Errors
    /// None in practice.
    pub fn disconnect(
        &mut self,
        reason: ReasonCode,
        session_expiry_s: Option<u32>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let was = std::mem::replace(&mut self.state, State::Disconnected);
        if was != State::Connected {
            return Ok(());
        }
        let reason = if self.version.has_properties() { reason } else { ReasonCode::Success };
        let properties = DisconnectProperties { session_expiry_s, ..Default::default() };
        Packet::Disconnect(Disconnect { reason, properties }).encode(self.version, out)
    }

    /// The connection is gone; the session stays.
    pub fn lost(&mut self) {
        self.state = State::Disconnected;
    }

    /// The session is given up: nothing is sent again.
    pub fn forget(&mut self) {
        self.inflight = self.inflight.fresh();
        self.received = Received::default();
        self.knows_session = false;
    }

    /// Tells the keep alive that bytes went out.
    #[inline]
    pub fn wrote(&mut self, now_ms: u64) {
        self.keep_alive.wrote(now_ms);
    }

    /// Nothing is read at present, by the caller's wish: a ping that stays unanswered says nothing about the broker.
    pub fn excuse_ping(&mut self) {
        self.keep_alive.answered();
    }

    /// When `tick` wants to be called next, in the clock of `now_ms`; `None` without keep alive.
    pub fn next_tick_ms(&self) -> Option<u64> {
        (self.state == State::Connected).then(|| self.keep_alive.next_ms())?
    }

    /// Appends a PINGREQ when the connection has been silent for long.
    ///
    /// # Errors
    /// `TimedOut`: the broker did not answer the last one within the keep alive time.
    pub fn tick(&mut self, now_ms: u64, out: &mut Vec<u8>) -> Result<(), ClientError> {
        if self.state == State::Connected && self.keep_alive.wants_ping(now_ms)? {
            Packet::PingReq.encode(self.version, out)?;
        }
        Ok(())
    }
}
