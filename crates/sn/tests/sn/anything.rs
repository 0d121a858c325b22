//! Any messages in any order, answers that come late, twice or never: does a gateway's client stand, and stay small?

use lapwing_sn::peer::{
    Client, Context, Event, Outgoing, Phase, Predefined, Receipt, Settings, SubscribeRequest, Tick,
};
use lapwing_sn::{MsgId, PublishQoS, QoS, ReturnCode, TopicId, decode};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pool::{Pool, messages, pool};

/// What the client's session still has to answer.
#[derive(Clone, Copy, Debug)]
enum Owed {
    Opened,
    Published(Receipt),
    Completed(MsgId),
    Subscribed(SubscribeRequest, QoS),
    Unsubscribed(MsgId),
    WillTopic,
    WillMessage,
    Drained,
}

struct Session {
    client: Client,
    predefined: Predefined,
    settings: Settings,
    owed: Vec<Owed>,
    now_ms: u64,
    out: Vec<u8>,
}

impl Session {
    fn new() -> Self {
        let mut predefined = Predefined::default();
        predefined.add(None, TopicId::MIN, "all").expect("a topic");
        let settings = Settings { registrations_max: 3, lingering_max: 2, ..Settings::default() };
        Session { client: Client::default(), predefined, settings, owed: Vec::new(), now_ms: 0, out: Vec::new() }
    }

    fn hear(&mut self, pool: &Pool, which: usize) {
        let all = messages(pool);
        let message = &all[which % all.len()];
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut self.out };
        let heard = self.client.handle(message, &self.predefined, cx);
        let owed = match heard.expect("every answer fits") {
            Event::Connect { .. } => Owed::Opened,
            Event::Publish { receipt: Some(receipt), qos: PublishQoS::Level(_), .. } => Owed::Published(receipt),
            Event::Release(msg_id) => Owed::Completed(msg_id),
            Event::Subscribe { qos, request, .. } => Owed::Subscribed(request, qos),
            Event::Unsubscribe { msg_id, .. } => Owed::Unsubscribed(msg_id),
            Event::WillTopic(_) => Owed::WillTopic,
            Event::WillMessage(_) => Owed::WillMessage,
            Event::Awake => Owed::Drained,
            _ => return,
        };
        self.owed.push(owed);
    }

    /// Answers one of what is owed, perhaps not for the last time.
    fn answer(&mut self, which: usize, code: ReturnCode, again: bool) {
        if self.owed.is_empty() {
            return;
        }
        let index = which % self.owed.len();
        let owed = if again { self.owed[index] } else { self.owed.swap_remove(index) };
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut self.out };
        let answered = match owed {
            Owed::Opened => self.client.opened(code, cx).map(drop),
            Owed::Published(receipt) => self.client.published(receipt, code, cx),
            Owed::Completed(msg_id) => self.client.completed(msg_id, cx),
            Owed::Subscribed(request, qos) => {
                let granted = if code.is_accepted() { Ok(qos) } else { Err(code) };
                self.client.subscribed(request, granted, cx)
            }
            Owed::Unsubscribed(msg_id) => self.client.unsubscribed(msg_id, cx),
            Owed::WillTopic => self.client.will_topic_stored(code, cx),
            Owed::WillMessage => self.client.will_message_stored(code, cx),
            Owed::Drained => self.client.drained(cx),
        };
        answered.expect("every answer fits");
    }

    fn deliver(&mut self, pool: &Pool) {
        let msg_id = pool.qos.is_acknowledged().then_some(pool.msg_id);
        let [retain, dup, ..] = pool.flags;
        let dup = dup && msg_id.is_some();
        let message = Outgoing { topic: &pool.topic, qos: pool.qos, retain, dup, msg_id, payload: &pool.payload };
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut self.out };
        self.client.deliver(&message, &self.predefined, cx).expect("it fits");
    }

    /// Everything that went out is a message, and is counted.
    fn sent(&mut self) -> Result<usize, TestCaseError> {
        let sent = std::mem::take(&mut self.out);
        let (mut rest, mut count) = (&sent[..], 0);
        while !rest.is_empty() {
            let len =
                if rest[0] == 1 { usize::from(rest[1]) << 8 | usize::from(rest[2]) } else { usize::from(rest[0]) };
            let datagram = decode(&rest[..len], &self.settings.limits);
            prop_assert!(datagram.is_ok(), "{:?}: {:02x?}", datagram, &rest[..len]);
            (rest, count) = (&rest[len..], count + 1);
        }
        Ok(count)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_order_of_messages_and_answers_is_too_much(
        pools in vec(pool(), 1..8),
        steps in vec((0..5_u8, any::<usize>(), any::<u8>(), 0..8_000_u64), 1..200),
    ) {
        let mut session = Session::new();
        for (step, which, code, pause_ms) in steps {
            let pool = &pools[which % pools.len()];
            // Half of the answers say yes: a session that is never open shows little.
            let code = if code % 2 == 0 { ReturnCode::ACCEPTED } else { ReturnCode::from_u8(code) };
            match step {
                0 | 1 => session.hear(pool, which / pools.len()),
                2 => session.answer(which, code, which % 3 == 0),
                3 => session.deliver(pool),
                _ => {
                    session.now_ms += pause_ms;
                    let was = session.client.phase();
                    let cx = &mut Context { settings: &session.settings, now_ms: session.now_ms, out: &mut session.out };
                    let tick = session.client.tick(cx);
                    prop_assert_eq!(tick == Tick::Lost, session.client.phase() == Phase::Lost && was != Phase::Lost);
                }
            }
            prop_assert!(session.sent()? <= 2, "one message brings no crowd of answers");
        }
    }
}
