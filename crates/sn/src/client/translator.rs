//! The translator: what it holds, what it takes, when it wants to be called.

use std::collections::VecDeque;

use lapwing_codec::{Limits, Packet, PacketId, ReasonCode, Version, decode};

use crate::peer::{Overdue, Repeats, Settings};
use crate::{Kind, Message, MsgId};

use super::connecting::Will;
use super::exchange::{Awaited, Exchange};
use super::topics::Topics;
use super::{Error, Refusal};

/// The version that is spoken on the side of the client.
pub(super) const VERSION: Version = Version::V311;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// CONNECT has not been answered.
    #[default]
    Connecting,
    /// CONNACK said yes.
    Connected,
    /// DISCONNECT with a duration was answered.
    Asleep,
    /// PINGREQ with the client's id has gone.
    Awake,
    /// The client said DISCONNECT, which is the last that goes.
    Leaving,
    /// DISCONNECT was answered, or its answer is not waited for any more.
    Over,
}

/// One connection of a client.
#[derive(Debug)]
pub struct Translator {
    pub(super) settings: Settings,
    pub(super) phase: Phase,
    pub(super) will: Option<Will>,
    pub(super) clean_session: bool,
    pub(super) client_id: Box<str>,
    /// The client goes to sleep, for so long, when all that waits is through.
    pub(super) sleep_s: Option<u16>,
    pub(super) topics: Topics,
    pub(super) repeats: Repeats,
    /// Packets of the client that have not gone, or not been answered: whole, in their order.
    pub(super) waiting: VecDeque<Box<[u8]>>,
    pub(super) waiting_bytes: usize,
    pub(super) in_flight: Option<Exchange>,
    /// PINGREQ, which does not wait for the others: of one that is active, or that is awake.
    pub(super) ping: Option<Exchange>,
    /// PUBREC came, and the client is about to release this message.
    pub(super) to_release: Option<PacketId>,
    /// What became of the filters of the first packet that waits.
    pub(super) codes: Vec<ReasonCode>,
    /// The gateway knew the topic's id no more: it was asked for another.
    pub(super) is_told_again: bool,
    /// The message of QoS 1 that came last, and what stood in its topic field: PUBACK says it.
    pub(super) last_heard: Option<(MsgId, u16)>,
    pub(super) last_id: MsgId,
    pub(super) datagrams: VecDeque<Vec<u8>>,
    pub(super) refusals: Vec<Refusal>,
    pub(super) dropped: u64,
    retransmissions: u64,
}

impl Translator {
    /// A connection to be: the client writes CONNECT first.
    pub fn new(settings: Settings) -> Self {
        Translator {
            settings,
            phase: Phase::default(),
            will: None,
            clean_session: true,
            client_id: Box::default(),
            sleep_s: None,
            topics: Topics::default(),
            repeats: Repeats::default(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            in_flight: None,
            ping: None,
            to_release: None,
            codes: Vec::new(),
            is_told_again: false,
            last_heard: None,
            last_id: MsgId::MAX,
            datagrams: VecDeque::new(),
            refusals: Vec::new(),
            dropped: 0,
            retransmissions: 0,
        }
    }

    /// Takes whole packets of the client; returns how many bytes they had. Packets wait here as they would in a socket's
    /// buffer: whoever writes looks at [`Translator::waiting_bytes`].
    /// # Errors
    /// The connection is over.
    pub fn write(&mut self, bytes: &[u8], now_ms: u64) -> Result<usize, Error> {
        let mut used = 0;
        while let Some((packet, len)) = decode(&bytes[used..], VERSION, &Limits::PROTOCOL)? {
            let whole = &bytes[used..used + len];
            match packet {
                Packet::PubAck(ack) => self.acknowledge(ack.packet_id)?,
                Packet::PubRec(ack) => self.received(ack.packet_id)?,
                Packet::PubComp(ack) => self.send(&Message::PubComp(ack.packet_id), "a PUBCOMP")?,
                Packet::PingReq if !self.is_going_to_sleep() => self.ping(now_ms)?,
                Packet::PubRel(ack) if self.to_release == Some(ack.packet_id) => {
                    self.to_release = None;
                    self.release(ack.packet_id, now_ms)?;
                }
                Packet::Disconnect(_) => {
                    self.phase = Phase::Leaving;
                    self.wait(whole);
                }
                _ if self.is_going_to_sleep() => {
                    return Err(Error::NotSayable("a client that sleeps says nothing of its own: connect anew"));
                }
                _ => self.wait(whole),
            }
            used += len;
        }
        self.pump(now_ms)?;
        Ok(used)
    }

    fn wait(&mut self, packet: &[u8]) {
        self.waiting_bytes += packet.len();
        self.waiting.push_back(packet.into());
    }

    /// The next datagram for the gateway.
    pub fn next_datagram(&mut self) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    /// Gives a datagram back that the socket did not take.
    pub fn give_back(&mut self, datagram: Vec<u8>) {
        self.datagrams.push_front(datagram);
    }

    /// Whether there are datagrams for the gateway.
    pub fn has_datagrams(&self) -> bool {
        !self.datagrams.is_empty()
    }

    /// Bytes of packets that have not gone, or are not answered.
    pub const fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Whether everything that the client wrote has gone, and its DISCONNECT has been answered.
    pub fn is_through(&self) -> bool {
        let is_leaving = self.in_flight.as_ref().is_some_and(|one| one.what == Awaited::Disconnect);
        self.waiting.is_empty() && self.datagrams.is_empty() && !is_leaving
    }

    /// Whether the client's DISCONNECT is through: nothing comes any more.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Publishes that were refused since the last call. The client's protocol is to be told: no packet says it.
    pub fn take_refusals(&mut self) -> Vec<Refusal> {
        std::mem::take(&mut self.refusals)
    }

    /// Datagrams that were no message, or none for a client in this state; and messages of QoS 0 that were refused.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Messages that went again.
    pub const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// When [`Translator::tick`] has something to do.
    pub fn next_wake_ms(&self) -> Option<u64> {
        [&self.in_flight, &self.ping].into_iter().flatten().map(Exchange::due_ms).min()
    }

    /// Sends again what is overdue. A ping that stays unanswered is for whoever counts the keep alive: it may be that
    /// nobody reads at present.
    /// # Errors
    /// The gateway is lost.
    pub fn tick(&mut self, now_ms: u64) -> Result<(), Error> {
        if let Some(exchange) = &mut self.in_flight {
            match exchange.tick(&self.settings, now_ms) {
                (Overdue::Lost, _) if exchange.what == Awaited::Disconnect => self.left(),
                (Overdue::Lost, _) => return Err(lost(exchange.kind(), &self.settings)),
                (_, again) => {
                    self.retransmissions += u64::from(again.is_some());
                    self.datagrams.extend(again);
                }
            }
        }
        if let Some(ping) = &mut self.ping {
            let (overdue, again) = ping.tick(&self.settings, now_ms);
            self.retransmissions += u64::from(again.is_some());
            self.datagrams.extend(again);
            if overdue == Overdue::Lost && self.phase == Phase::Awake {
                return Err(lost(ping.kind(), &self.settings));
            }
            if overdue == Overdue::Lost {
                self.ping = None;
            }
        }
        Ok(())
    }

    /// One message for the gateway, which nothing answers.
    pub(super) fn send(&mut self, message: &Message<'_>, what: &'static str) -> Result<(), Error> {
        let mut bytes = Vec::new();
        message.encode(&self.settings.limits, &mut bytes).map_err(|error| Error::of(error, what))?;
        self.datagrams.push_back(bytes);
        Ok(())
    }

    /// An id of our own, for what has none in MQTT or several.
    pub(super) fn next_id(&mut self) -> MsgId {
        self.last_id = self.last_id.next();
        self.last_id
    }
}

fn lost(kind: Kind, settings: &Settings) -> Error {
    let times = settings.retries_max + 1;
    Error::Lost { kind: kind.name(), times, after_ms: settings.retry_ms * u64::from(times) }
}
