//! One client: what `lapwing_sn::peer` knows of it, its connection, and what waits for it here.

use std::sync::Arc;

use lapwing_codec::{Ack, Limits, Packet, PacketId, Publish, ReasonCode, Version, decode};
use lapwing_sn::peer::{Client, Delivery, Outgoing, Phase, Tick};
use lapwing_sn::{EncodeError, QoS, ReturnCode};

use super::address::{Address, KeptAddress};
use super::counters::Dropped;
use super::io::Io;
use super::link::Link;
use super::opening::Opening;
use super::traffic::{UnderWay, Waiting};
use super::will::Wills;
use super::word::Said;
use crate::timers::NEVER;

/// A client, or who connects. There may be many that are idle, so what few have lies behind a pointer.
pub(super) struct Guest {
    pub(super) address: KeptAddress,
    /// Its datagrams come through DTLS, which has shown its address.
    pub(super) is_sealed: bool,
    door: u16,
    /// Tells it from earlier ones in the same place of the table.
    pub(super) born: u64,
    pub(super) client: Client,
    /// The client id of its last CONNECT, accepted or not.
    pub(super) connects_as: Option<Arc<str>>,
    pub(super) clean_session: bool,
    pub(super) link: Option<Link>,
    pub(super) wills: Wills,
    /// Its will is the one that it left when it went.
    pub(super) has_kept_will: bool,
    /// Its last CONNECT is not accepted yet, or what it left is still kept.
    pub(super) is_unsettled: bool,
    /// Something came from its address after our CONNACK.
    pub(super) has_answered: bool,
    /// Its last CONNECT, until something came after its CONNACK.
    pub(super) said: Option<Box<Said>>,
    /// It wants PINGRESP, as soon as its session is open.
    pub(super) is_owed_pong: bool,
    /// In which turn it was heard last.
    pub(super) heard_in: u32,
    /// How often in that turn: no more is read from a socket than fits.
    pub(super) heard_times: u16,
    /// When the timer that counts fires; [`NEVER`]: there is none.
    pub(super) timer_ms: u64,
    pub(super) counts_as_asleep: bool,
}

// A broker may have a hundred thousand of them, of which most are idle.
const _: () = assert!(size_of::<Guest>() <= 272);

/// What is to be done with a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing more.
    Stay,
    /// A connection is to be opened for it.
    Open(Opening),
    /// It is gone: its connection ends, with its will if it has not said DISCONNECT.
    Leave,
    /// The same, and it has said DISCONNECT: so it may say again, until it hears the answer.
    Part,
}

impl Guest {
    pub(super) fn new(address: &Address<'_>, is_sealed: bool, door: usize) -> Self {
        Guest {
            address: KeptAddress::from(*address),
            is_sealed,
            // There are fewer listeners: each has a number of 16 bits.
            door: door as u16,
            born: 0,
            client: Client::default(),
            connects_as: None,
            clean_session: false,
            link: None,
            wills: Wills::default(),
            has_kept_will: false,
            is_unsettled: false,
            has_answered: false,
            said: None,
            is_owed_pong: false,
            heard_in: 0,
            heard_times: 0,
            timer_ms: NEVER,
            counts_as_asleep: false,
        }
    }

    /// Its listener, among those of the thread.
    pub(super) fn door(&self) -> usize {
        usize::from(self.door)
    }

    /// Whether its CONNECT was refused before it had a session, so that nothing is left of it.
    pub(super) fn is_nobody(&self) -> bool {
        self.link.is_none() && self.said.is_none() && !self.client.is_setting_up()
    }

    /// What it says of its will is none: CONNACK with the code, if it was asked for one.
    pub(super) fn refuse_setup(&mut self, code: ReturnCode, io: &mut Io<'_>) -> Then {
        let refused = self.client.refuse_setup(code, &mut io.of(&self.address.get()));
        io.check(refused.map(drop));
        if self.is_nobody() { Then::Leave } else { Then::Stay }
    }

    /// Whether somebody else than before connects from its address.
    pub(super) fn is_another(&self, client_id: &str) -> bool {
        !self.connects_as().is_empty() && self.connects_as() != client_id
    }

    /// The client id of its last CONNECT; empty before the first.
    pub(super) fn connects_as(&self) -> &str {
        self.connects_as.as_deref().unwrap_or_default()
    }

    /// It connects under this id.
    pub(super) fn call(&mut self, client_id: &Arc<str>) {
        self.connects_as = Some(Arc::clone(client_id));
    }

    /// A CONNECT of it is under way. Only who has shown to be there has something from before.
    pub(super) fn begin(&mut self, opening: &Opening) {
        if !self.is_there_as(&opening.client_id) {
            self.wills.set(None, true);
            self.has_kept_will = false;
        }
        self.clean_session = opening.clean_session;
        (self.has_answered, self.is_unsettled, self.is_owed_pong) = (false, true, false);
        self.said = Some(Box::new(Said::new(opening.clone())));
    }

    /// What the former client at its address had is not the next one's.
    pub(super) fn forget(&mut self) {
        (self.wills, self.has_kept_will) = (Wills::default(), false);
        self.client.forget();
    }

    /// Sends what waits, as far as it goes; to one that is awake, asks for what else there is.
    pub(super) fn pump(&mut self, io: &mut Io<'_>) {
        if !self.may_hear() || !self.send_release(io) {
            return;
        }
        while let Some(waiting) = self.take_waiting() {
            if let Some(waiting) = self.send(waiting, io) {
                if let Some(link) = &mut self.link {
                    link.busy().waiting.push_front(waiting);
                }
                break;
            }
        }
        self.ask_for_more();
    }

    /// PUBLISHes of the session that could not go yet.
    pub(super) fn waiting_messages(&self) -> usize {
        let traffic = self.link.as_ref().and_then(|link| link.traffic.as_ref());
        traffic.map_or(0, |traffic| traffic.waiting.len())
    }

    /// Whether something of the session could not go yet: PUBLISHes, or PUBREL.
    pub(super) fn has_waiting(&self) -> bool {
        let traffic = self.link.as_ref().and_then(|link| link.traffic.as_ref());
        traffic.is_some_and(|traffic| !traffic.waiting.is_empty() || traffic.release.is_some())
    }

    /// Takes the first of those out.
    fn take_waiting(&mut self) -> Option<Waiting> {
        self.link.as_mut()?.traffic.as_mut()?.waiting.pop_front()
    }

    /// PUBREL that waits; false when it goes on waiting.
    fn send_release(&mut self, io: &mut Io<'_>) -> bool {
        let Some(link) = &mut self.link else { return false };
        let Some(packet_id) = link.traffic.as_ref().and_then(|traffic| traffic.release) else { return true };
        match self.client.release_to(packet_id, &mut io.of(&self.address.get())) {
            Ok(Delivery::Sent) => {
                let (packet, is_received, is_told_again) = (Box::default(), false, false);
                let under_way = UnderWay { packet_id, qos: QoS::ExactlyOnce, packet, is_received, is_told_again };
                let traffic = link.busy();
                (traffic.under_way, traffic.release) = (Some(under_way), None);
                true
            }
            _ => false,
        }
    }

    /// Sends one PUBLISH of the session; gives it back when it has to wait.
    fn send(&mut self, waiting: Waiting, io: &mut Io<'_>) -> Option<Waiting> {
        // It was read by the same limits when it came.
        let Ok(Some((Packet::Publish(publish), _))) = decode(&waiting.packet, Version::V5, &Limits::PROTOCOL) else {
            return None;
        };
        let message = outgoing(&publish);
        let delivery = self.client.deliver(&message, &io.terms.predefined, &mut io.of(&self.address.get()));
        match delivery {
            Ok(Delivery::Sent) => {
                if let (Some(packet_id), Some(link), qos) = (publish.packet_id, &mut self.link, publish.qos) {
                    let Waiting { packet, is_told_again } = waiting;
                    let is_received = false;
                    link.busy().under_way = Some(UnderWay { packet_id, qos, packet, is_received, is_told_again });
                }
                None
            }
            Ok(Delivery::Registering | Delivery::Wait | Delivery::NotConnected) => Some(waiting),
            Ok(Delivery::TopicsFull) => {
                self.refuse(publish.qos, publish.packet_id, ReasonCode::QuotaExceeded, Dropped::TopicsFull, io);
                None
            }
            Err(EncodeError::TooLarge { .. } | EncodeError::NotRepresentable(_)) => {
                let reason = ReasonCode::ImplementationSpecificError;
                self.refuse(publish.qos, publish.packet_id, reason, Dropped::TooLargeOut, io);
                None
            }
        }
    }

    /// A message that the client will not get: the session is done with it.
    pub(super) fn refuse(
        &mut self,
        qos: QoS,
        packet_id: Option<PacketId>,
        reason: ReasonCode,
        why: Dropped,
        io: &Io<'_>,
    ) {
        io.counters.dropped(why);
        if let (Some(link), Some(packet_id)) = (&mut self.link, packet_id) {
            link.acknowledge(&first_answer(qos, packet_id, reason));
        }
    }

    /// The first of those that wait is refused by the client, which does not take its topic.
    pub(super) fn refuse_first(&mut self, io: &Io<'_>) {
        let Some(waiting) = self.take_waiting() else { return };
        if let Ok(Some((Packet::Publish(publish), _))) = decode(&waiting.packet, Version::V5, &Limits::PROTOCOL) {
            let reason = ReasonCode::ImplementationSpecificError;
            self.refuse(publish.qos, publish.packet_id, reason, Dropped::ByClient, io);
        }
    }

    /// Whether everything that came for the client is with it.
    pub(super) fn has_nothing(&self) -> bool {
        let is_free = |link: &Link| link.traffic.as_ref().is_none_or(|traffic| !traffic.is_delivering());
        self.waiting_messages() == 0 && self.client.is_idle() && self.link.as_ref().is_some_and(is_free)
    }

    /// One that is awake has got what there was: perhaps the session has more.
    fn ask_for_more(&mut self) {
        if self.client.phase() == Phase::Awake && self.has_nothing() {
            self.link.iter_mut().filter(|link| link.pings == 0).for_each(|link| {
                link.is_quiet = false;
                link.ping();
            });
        }
    }

    /// What was under way was given up, because the client sleeps: it goes again later.
    pub(super) fn take_back(&mut self) {
        let Some(traffic) = self.link.as_mut().and_then(|link| link.traffic.as_mut()) else { return };
        let Some(under_way) = traffic.under_way.take_if(|under_way| !under_way.is_received) else { return };
        if under_way.packet.is_empty() {
            traffic.release = Some(under_way.packet_id);
        } else {
            let UnderWay { packet, is_told_again, .. } = under_way;
            traffic.waiting.push_front(Waiting { packet, is_told_again });
        }
    }

    /// When [`Guest::tick`] has something to do.
    pub(super) fn next_wake_ms(&self) -> Option<u64> {
        let ping = self.link.as_ref().filter(|link| link.ping_every_s.is_some()).map(|link| link.ping_at_ms);
        [self.client.next_wake_ms(), self.next_ask_ms(), ping].into_iter().flatten().min()
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, io: &mut Io<'_>) -> Then {
        self.link.iter_mut().for_each(Link::rest);
        self.ping_broker(io.now_ms);
        let before = io.out.len();
        match self.client.tick(&mut io.of(&self.address.get())) {
            Tick::Lost => {
                if !self.is_awaited() {
                    io.counters.lost.add(1);
                }
                return Then::Leave;
            }
            Tick::SetupOver if self.is_nobody() => return Then::Leave,
            Tick::Asleep => self.take_back(),
            Tick::SetupOver | Tick::Nothing => {}
        }
        if io.out.len() > before {
            io.counters.retransmissions.add(1);
        }
        self.ask_for_word(io);
        self.pump(io);
        Then::Stay
    }

    /// The broker bounds how long a client may be silent; of this one it hears by its datagrams only.
    fn ping_broker(&mut self, now_ms: u64) {
        let Some(link) = &mut self.link else { return };
        if let Some(every_ms) = link.ping_every_ms().filter(|_| now_ms >= link.ping_at_ms) {
            link.ping_at_ms = now_ms + every_ms;
            link.ping();
        }
    }
}

/// PUBACK, or PUBREC for QoS 2: the first that is said of a message.
pub(super) fn first_answer(qos: QoS, packet_id: PacketId, reason: ReasonCode) -> Packet<'static> {
    let ack = Ack::new(packet_id, reason);
    if qos == QoS::ExactlyOnce { Packet::PubRec(ack) } else { Packet::PubAck(ack) }
}

fn outgoing<'a>(publish: &Publish<'a>) -> Outgoing<'a> {
    let Publish { topic, qos, retain, dup, packet_id: msg_id, payload, .. } = *publish;
    Outgoing { topic, qos, retain, dup, msg_id, payload }
}
