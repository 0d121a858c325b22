//! What random messages are made of.

use lapwing_sn::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Fields, from which every message takes what it needs.
#[derive(Clone, Debug)]
pub struct Pool {
    pub text: String,
    pub topic: String,
    pub filter: String,
    pub short: ShortTopic,
    pub topic_id: TopicId,
    pub msg_id: MsgId,
    pub code: ReturnCode,
    pub qos: QoS,
    pub number: u16,
    pub byte: u8,
    pub flags: [bool; 4],
    pub payload: Vec<u8>,
    pub address: Vec<u8>,
    pub node_id: Vec<u8>,
}

pub fn pool() -> impl Strategy<Value = Pool> {
    let topic = "[a-zäöü柔 $.]{1,6}(/[a-z0-9]{0,4}){0,4}";
    let filter = "([a-z]{0,3}/|\\+/){0,4}([a-z]{1,3}|\\+|#)";
    let short = "[a-z/ ]{2}|[äöü]";
    let payload = prop_oneof![vec(any::<u8>(), 0..40), vec(any::<u8>(), 240..270), vec(any::<u8>(), 900..1000)];
    let texts = ("[a-zA-Z0-9äöü_-]{1,23}", topic, filter, short);
    let numbers = (1..=0xFFFE_u16, 1..=u16::MAX, any::<u8>(), 0..3_u8, any::<u16>(), any::<u8>());
    let blobs = (payload, vec(any::<u8>(), 1..20), vec(any::<u8>(), 0..10));
    (texts, numbers, any::<[bool; 4]>(), blobs).prop_map(|(texts, numbers, flags, blobs)| Pool {
        text: texts.0,
        topic: texts.1,
        filter: texts.2,
        short: ShortTopic::new(&texts.3).expect("two bytes and no wildcard"),
        topic_id: TopicId::new(numbers.0).expect("in its range"),
        msg_id: MsgId::new(numbers.1).expect("not zero"),
        code: ReturnCode::from_u8(numbers.2),
        qos: QoS::from_u8(numbers.3).expect("below 3"),
        number: numbers.4,
        byte: numbers.5,
        flags,
        payload: blobs.0,
        address: blobs.1,
        node_id: blobs.2,
    })
}

impl Pool {
    /// A forwarder, for those pools that have a node behind one.
    pub fn forwarding(&self) -> Option<Forwarding<'_>> {
        let radius = Radius::new(self.byte % 4)?;
        (!self.node_id.is_empty()).then_some(Forwarding { radius, node_id: &self.node_id })
    }

    fn will(&self) -> WillTopic<'_> {
        WillTopic { qos: self.qos, retain: self.flags[0], topic: &self.topic }
    }

    fn ack(&self) -> TopicAck {
        TopicAck { topic: self.number, msg_id: Some(self.msg_id), code: self.code }
    }

    fn optional_id(&self) -> Option<TopicId> {
        self.flags[1].then_some(self.topic_id)
    }

    fn publish(&self, topic: PublishTopic) -> Publish<'_> {
        let is_acknowledged = self.qos.is_acknowledged();
        Publish {
            dup: self.flags[2] && is_acknowledged,
            qos: PublishQoS::Level(self.qos),
            retain: self.flags[3],
            topic,
            msg_id: is_acknowledged.then_some(self.msg_id),
            payload: &self.payload,
        }
    }
}

/// One message of every type at least, and one for each form that a type has.
pub fn messages(pool: &Pool) -> Vec<Message<'_>> {
    let [first, second, ..] = pool.flags;
    let topics = [
        SubscribeTopic::Filter(&pool.filter),
        SubscribeTopic::Predefined(pool.topic_id),
        SubscribeTopic::Short(pool.short),
    ];
    let mut messages = vec![
        Message::Advertise(Advertise { gateway_id: pool.byte, duration_s: pool.number }),
        Message::SearchGw(SearchGw { radius: pool.byte }),
        Message::GwInfo(GwInfo { gateway_id: pool.byte, address: None }),
        Message::GwInfo(GwInfo { gateway_id: pool.byte, address: Some(&pool.address) }),
        Message::Connect(Connect {
            will: first,
            clean_session: second,
            duration_s: pool.number,
            client_id: &pool.text,
        }),
        Message::ConnAck(pool.code),
        Message::WillTopicReq,
        Message::WillTopic(Some(pool.will())),
        Message::WillTopic(None),
        Message::WillMsgReq,
        Message::WillMsg(WillMsg { payload: &pool.payload }),
        Message::Register(Register { topic_id: pool.optional_id(), msg_id: pool.msg_id, topic: &pool.topic }),
        Message::RegAck(pool.ack()),
        Message::PubAck(pool.ack()),
        Message::PubAck(TopicAck { msg_id: None, code: ReturnCode::INVALID_TOPIC_ID, ..pool.ack() }),
        Message::PubComp(pool.msg_id),
        Message::PubRec(pool.msg_id),
        Message::PubRel(pool.msg_id),
        Message::SubAck(SubAck { qos: pool.qos, topic_id: pool.optional_id(), msg_id: pool.msg_id, code: pool.code }),
        Message::UnsubAck(pool.msg_id),
        Message::PingReq(PingReq { client_id: None }),
        Message::PingReq(PingReq { client_id: Some(&pool.text) }),
        Message::PingResp,
        Message::Disconnect(Disconnect { duration_s: None }),
        Message::Disconnect(Disconnect { duration_s: Some(pool.number) }),
        Message::WillTopicUpd(Some(pool.will())),
        Message::WillTopicUpd(None),
        Message::WillTopicResp(pool.code),
        Message::WillMsgUpd(WillMsg { payload: &pool.payload }),
        Message::WillMsgResp(pool.code),
    ];
    for topic in topics {
        messages.push(Message::Subscribe(Subscribe { dup: first, qos: pool.qos, msg_id: pool.msg_id, topic }));
        messages.push(Message::Unsubscribe(Unsubscribe { msg_id: pool.msg_id, topic }));
    }
    let without_name = [PublishTopic::Predefined(pool.topic_id), PublishTopic::Short(pool.short)];
    messages.push(Message::Publish(pool.publish(PublishTopic::Registered(pool.topic_id))));
    for topic in without_name {
        let publish = pool.publish(topic);
        messages.push(Message::Publish(publish));
        let qos = PublishQoS::MinusOne;
        messages.push(Message::Publish(Publish { dup: false, qos, msg_id: None, ..publish }));
    }
    messages
}
