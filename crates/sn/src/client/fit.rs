//! What fits a datagram: asked before a message is handed over, so that the one who sends it hears of it.

use thiserror::Error;

use crate::{
    Limits, Message, MsgId, Publish, PublishQoS, PublishTopic, QoS, Register, ShortTopic, Subscribe, SubscribeTopic,
    TopicId, WillMsg, WillTopic,
};

/// Something that would need a larger datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "{what} needs a datagram of {len} bytes, and over MQTT-SN at most {max} are sent: make it smaller, or connect over \
     tcp://"
)]
pub struct Unfit {
    /// What it is.
    pub what: &'static str,
    /// Bytes that its datagram would have.
    pub len: usize,
    /// The limit.
    pub max: usize,
}

/// Whether a message can go, and its topic be registered.
/// # Errors
/// One of them does not fit.
pub fn check_publish(topic: &str, payload: &[u8], limits: &Limits) -> Result<(), Unfit> {
    let qos = PublishQoS::Level(QoS::AtMostOnce);
    let by_id = PublishTopic::Registered(TopicId::MIN);
    let publish = Publish { dup: false, qos, retain: false, topic: by_id, msg_id: None, payload };
    fits("a message of this size", &Message::Publish(publish), limits)?;
    if ShortTopic::new(topic).is_ok() {
        return Ok(());
    }
    let register = Register { topic_id: None, msg_id: MsgId::MIN, topic };
    fits("a topic of this length", &Message::Register(register), limits)
}

/// Whether a filter can be subscribed to.
/// # Errors
/// It does not fit.
pub fn check_filter(filter: &str, limits: &Limits) -> Result<(), Unfit> {
    let topic = SubscribeTopic::Filter(filter);
    let subscribe = Subscribe { dup: false, qos: QoS::AtMostOnce, msg_id: MsgId::MIN, topic };
    fits("a filter of this length", &Message::Subscribe(subscribe), limits)
}

/// Whether a will can be set.
/// # Errors
/// Its topic or its message does not fit.
pub fn check_will(topic: &str, payload: &[u8], limits: &Limits) -> Result<(), Unfit> {
    let place = WillTopic { qos: QoS::AtMostOnce, retain: false, topic };
    fits("a will topic of this length", &Message::WillTopic(Some(place)), limits)?;
    fits("a will of this size", &Message::WillMsg(WillMsg { payload }), limits)
}

fn fits(what: &'static str, message: &Message<'_>, limits: &Limits) -> Result<(), Unfit> {
    let (len, max) = (message.encoded_len(), usize::from(limits.datagram_bytes_max));
    if len <= max { Ok(()) } else { Err(Unfit { what, len, max }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what just fits let through, and one byte more refused with both numbers?
    #[test]
    fn section_5_2_1_a_datagram_has_a_limit_when_it_goes() {
        let limits = Limits { datagram_bytes_max: 300, ..Limits::PROTOCOL };
        let (topic, payload) = ("t".repeat(292), vec![0; 291]);
        assert_eq!(check_publish(&topic, &payload, &limits), Ok(()));
        let unfit = check_publish("topic", &[0; 292], &limits).expect_err("it does not fit");
        assert_eq!((unfit.len, unfit.max), (301, 300));
        assert!(unfit.to_string().contains("301 bytes") && unfit.to_string().contains("tcp://"), "{unfit}");
        assert!(check_publish(&"t".repeat(293), b"", &limits).is_err());
        assert!(check_filter(&"t".repeat(293), &limits).is_ok() && check_filter(&"t".repeat(294), &limits).is_err());
        assert!(check_will("w", &[0; 296], &limits).is_ok() && check_will("w", &[0; 297], &limits).is_err());
        assert!(check_will(&"w".repeat(296), b"", &limits).is_err());
    }
}
