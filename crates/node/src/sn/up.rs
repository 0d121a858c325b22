//! From a client to its session: messages of MQTT-SN become packets.

use lapwing_codec::{Ack, Packet, PacketId, Publish, PublishProperties, ReasonCode};
use lapwing_sn::peer::{Answer, Event, Receipt};
use lapwing_sn::{Message, PingReq, PublishQoS, QoS, ReturnCode};

use super::counters::Dropped;
use super::guest::{Guest, Then, first_answer};
use super::io::Io;
use super::link::Stage;
use super::opening::Opening;
use super::traffic::Waiting;
use super::will::StoredWill;

impl Guest {
    /// Takes what came from the client's address.
    pub(super) fn hear(&mut self, message: &Message<'_>, io: &mut Io<'_>) -> Then {
        if self.must_wait_for_session(message) {
            return Then::Stay;
        }
        let event = match self.client.handle(message, &io.terms.predefined, &mut io.of(&self.address.get())) {
            Ok(event) => event,
            Err(_) => {
                io.counters.dropped(Dropped::TooLargeOut);
                return Then::Stay;
            }
        };
        match event {
            Event::Nothing => {}
            Event::OutOfState => io.counters.dropped(Dropped::OutOfState),
            Event::Refused => {
                io.counters.dropped(Dropped::Refused);
                if self.is_nobody() {
                    return Then::Leave;
                }
            }
            Event::Unknown => io.counters.dropped(Dropped::Unknown),
            Event::Connect { client_id, clean_session, will } => {
                return Then::Open(Opening { client_id, clean_session, will });
            }
            Event::Publish { topic, qos, retain, dup, payload, receipt, given_up } => {
                // Who is connected may say -1 too; it is answered as little as 0 is.
                let qos = if let PublishQoS::Level(qos) = qos { qos } else { QoS::AtMostOnce };
                let packet_id = receipt.map(Receipt::msg_id);
                let (topic, properties) = (topic.as_str(), PublishProperties::EMPTY);
                let publish =
                    Publish { dup: dup && packet_id.is_some(), qos, retain, topic, packet_id, properties, payload };
                // First, for its place may be the last.
                let kept = given_up.filter(|id| !self.link.as_mut().is_some_and(|link| link.give_up(*id)));
                let is_free = kept.is_none();
                let is_taken = is_free && self.link.as_mut().is_some_and(|link| link.publish(&publish, receipt));
                if !is_taken {
                    self.congested(receipt, kept, io);
                }
            }
            Event::Release(msg_id) => {
                if !self.link.as_mut().is_some_and(|link| link.release(msg_id)) {
                    io.counters.dropped(Dropped::Congested);
                }
            }
            Event::Subscribe { filter, qos, request } => {
                let is_taken = self.link.as_mut().is_some_and(|link| link.subscribe(filter.as_str(), qos, request));
                if !is_taken {
                    io.counters.dropped(Dropped::Congested);
                    let refused =
                        self.client.subscribed(request, Err(ReturnCode::CONGESTION), &mut io.of(&self.address.get()));
                    io.check(refused);
                }
            }
            Event::Unsubscribe { filter, msg_id } => {
                if !self.link.as_mut().is_some_and(|link| link.unsubscribe(filter.as_str(), msg_id)) {
                    io.counters.dropped(Dropped::Congested);
                }
            }
            Event::WillTopic(place) => {
                let will = place.map(StoredWill::at);
                self.change_will_topic(will, io);
            }
            Event::WillMessage(payload) => {
                let payload = payload.to_vec();
                self.change_will_message(payload, io);
            }
            Event::Answered(answer) => self.answered(answer, io),
            Event::Awake | Event::Returned => self.pump(io),
            Event::Asleep => self.take_back(),
            Event::Gone => {
                self.link.iter_mut().for_each(super::link::Link::end);
                return if self.may_hear() { Then::Part } else { Then::Leave };
            }
        }
        if self.has_waiting() {
            self.pump(io);
        }
        Then::Stay
    }

    /// PINGRESP says that the session is there, as SUBACK does: it waits while that is being opened.
    fn must_wait_for_session(&mut self, message: &Message<'_>) -> bool {
        let is_entering = self.link.as_ref().is_some_and(|link| link.stage == Stage::Entering);
        let waits =
            is_entering && self.has_answered && matches!(message, Message::PingReq(PingReq { client_id: None }));
        self.is_owed_pong |= waits;
        waits
    }

    /// Its session is open.
    pub(super) fn has_entered(&mut self, io: &mut Io<'_>) -> Then {
        let ping = Message::PingReq(PingReq { client_id: None });
        if std::mem::take(&mut self.is_owed_pong) { self.hear(&ping, io) } else { Then::Stay }
    }

    /// A message that the session cannot take now; nor could it be told that another is given up, which it has `kept`.
    fn congested(&mut self, receipt: Option<Receipt>, kept: Option<PacketId>, io: &mut Io<'_>) {
        io.counters.dropped(Dropped::Congested);
        let Some(receipt) = receipt else { return };
        let refused = self.client.published(receipt, ReturnCode::CONGESTION, &mut io.of(&self.address.get()));
        io.check(refused);
        kept.into_iter().for_each(|msg_id| self.client.not_given_up(msg_id));
    }

    /// What the client said of what is in flight goes to the session; then the next may go.
    fn answered(&mut self, answer: Answer, io: &mut Io<'_>) {
        match answer {
            Answer::Registered(_, code) if !code.is_accepted() => self.refuse_first(io),
            Answer::Registered(..) => {}
            Answer::Published(code) => self.client_published(code, io),
            Answer::Received => {
                self.say_of_under_way(|packet_id| Packet::PubRec(Ack::success(packet_id)));
                let under_way = self.link.as_mut().and_then(|link| link.busy().under_way.as_mut());
                under_way.into_iter().for_each(|under_way| under_way.is_received = true);
            }
            Answer::Completed => {
                self.say_of_under_way(|packet_id| Packet::PubComp(Ack::success(packet_id)));
                self.link.iter_mut().for_each(|link| link.busy().under_way = None);
            }
        }
        self.pump(io);
    }

    /// PUBACK of the client. It may have forgotten the topic's id, and is told it again: once for a message.
    fn client_published(&mut self, code: ReturnCode, io: &Io<'_>) {
        let Some(link) = &mut self.link else { return };
        let Some(under_way) = link.traffic.as_mut().and_then(|traffic| traffic.under_way.take()) else { return };
        if code == ReturnCode::INVALID_TOPIC_ID && !under_way.is_told_again {
            link.busy().waiting.push_front(Waiting { packet: under_way.packet, is_told_again: true });
            return;
        }
        let reason = if code.is_accepted() {
            ReasonCode::Success
        } else {
            io.counters.dropped(Dropped::ByClient);
            ReasonCode::ImplementationSpecificError
        };
        link.acknowledge(&first_answer(under_way.qos, under_way.packet_id, reason));
    }

    fn say_of_under_way(&mut self, packet: impl FnOnce(PacketId) -> Packet<'static>) {
        let Some(link) = &mut self.link else { return };
        let under_way = link.traffic.as_ref().and_then(|traffic| traffic.under_way.as_ref());
        let Some(packet_id) = under_way.map(|under_way| under_way.packet_id) else { return };
        link.acknowledge(&packet(packet_id));
    }
}
