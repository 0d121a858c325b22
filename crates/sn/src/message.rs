//! The message: one variant per message type.

use crate::header::Header;
use crate::read::Reader;
use crate::{
    Advertise, Connect, DecodeError, Disconnect, EncodeError, GwInfo, Kind, Limits, MsgId, PingReq, Publish, Register,
    ReturnCode, SearchGw, SubAck, Subscribe, TopicAck, Unsubscribe, WillMsg, WillTopic, msg_id_only, write,
};

/// A message of MQTT-SN 1.2, borrowing from the datagram it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the messages of the specification, documented on their types")]
pub enum Message<'a> {
    Advertise(Advertise),
    SearchGw(SearchGw),
    GwInfo(GwInfo<'a>),
    Connect(Connect<'a>),
    ConnAck(ReturnCode),
    WillTopicReq,
    /// `None`: there is no will.
    WillTopic(Option<WillTopic<'a>>),
    WillMsgReq,
    WillMsg(WillMsg<'a>),
    Register(Register<'a>),
    RegAck(TopicAck),
    Publish(Publish<'a>),
    PubAck(TopicAck),
    PubComp(MsgId),
    PubRec(MsgId),
    PubRel(MsgId),
    Subscribe(Subscribe<'a>),
    SubAck(SubAck),
    Unsubscribe(Unsubscribe<'a>),
    UnsubAck(MsgId),
    PingReq(PingReq<'a>),
    PingResp,
    Disconnect(Disconnect),
    /// `None`: there is no will any more (6.4).
    WillTopicUpd(Option<WillTopic<'a>>),
    WillTopicResp(ReturnCode),
    WillMsgUpd(WillMsg<'a>),
    WillMsgResp(ReturnCode),
}

impl<'a> Message<'a> {
    /// Decodes the message that `header` is of; the datagram ends with it.
    pub(crate) fn decode(datagram: &'a [u8], header: &Header, limits: &Limits) -> Result<Self, DecodeError> {
        header.check_exact(datagram)?;
        let kind = header.known_kind()?;
        let reader = Reader::new(datagram, header.body_at());
        Ok(match kind {
            Kind::Publish => Message::Publish(Publish::decode(reader)?),
            Kind::Advertise => Message::Advertise(Advertise::decode(reader)?),
            Kind::SearchGw => Message::SearchGw(SearchGw::decode(reader)?),
            Kind::GwInfo => Message::GwInfo(GwInfo::decode(reader)?),
            Kind::Connect => Message::Connect(Connect::decode(reader, limits)?),
            Kind::ConnAck => Message::ConnAck(ReturnCode::decode(reader)?),
            Kind::WillTopicReq => reader.finish().map(|()| Message::WillTopicReq)?,
            Kind::WillTopic => Message::WillTopic(WillTopic::decode(reader, limits).map_err(DecodeError::of_setup)?),
            Kind::WillMsgReq => reader.finish().map(|()| Message::WillMsgReq)?,
            Kind::WillMsg => Message::WillMsg(WillMsg::decode(reader)?),
            Kind::Register => Message::Register(Register::decode(reader, limits)?),
            Kind::RegAck => Message::RegAck(TopicAck::decode_regack(reader)?),
            Kind::PubAck => Message::PubAck(TopicAck::decode_puback(reader)?),
            Kind::PubComp => Message::PubComp(msg_id_only::decode(reader)?),
            Kind::PubRec => Message::PubRec(msg_id_only::decode(reader)?),
            Kind::PubRel => Message::PubRel(msg_id_only::decode(reader)?),
            Kind::Subscribe => Message::Subscribe(Subscribe::decode(reader, limits)?),
            Kind::SubAck => Message::SubAck(SubAck::decode(reader)?),
            Kind::Unsubscribe => Message::Unsubscribe(Unsubscribe::decode(reader, limits)?),
            Kind::UnsubAck => Message::UnsubAck(msg_id_only::decode(reader)?),
            Kind::PingReq => Message::PingReq(PingReq::decode(reader, limits)?),
            Kind::PingResp => reader.finish().map(|()| Message::PingResp)?,
            Kind::Disconnect => Message::Disconnect(Disconnect::decode(reader)?),
            Kind::WillTopicUpd => Message::WillTopicUpd(
                WillTopic::decode(reader, limits).map_err(|error| error.answered(Message::WillTopicResp))?,
            ),
            Kind::WillTopicResp => Message::WillTopicResp(ReturnCode::decode(reader)?),
            Kind::WillMsgUpd => Message::WillMsgUpd(WillMsg::decode(reader)?),
            Kind::WillMsgResp => Message::WillMsgResp(ReturnCode::decode(reader)?),
        })
    }

    /// Appends the message to `out`, without a forwarder; on an error nothing is appended. Returns its length in bytes.
    ///
    /// Strings are trusted to be what their fields ask for (topic names and filters valid, no U+0000).
    /// # Errors
    /// See [`EncodeError`].
    pub fn encode(&self, limits: &Limits, out: &mut Vec<u8>) -> Result<usize, EncodeError> {
        match self {
            Message::RegAck(ack) => ack.check_regack()?,
            Message::PubAck(ack) => ack.check_puback()?,
            _ => {}
        }
        self.visit(Encode { kind: self.kind(), len_max: usize::from(limits.datagram_bytes_max), out })
    }

    /// Bytes of the message, without a forwarder, whether a limit allows them or not.
    pub fn encoded_len(&self) -> usize {
        self.visit(Measure)
    }

    /// Gives what follows the header to `visitor`.
    #[inline]
    fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        match self {
            Message::Advertise(body) => visitor.body(body),
            Message::SearchGw(body) => visitor.body(body),
            Message::GwInfo(body) => visitor.body(body),
            Message::Connect(body) => visitor.body(body),
            Message::WillTopic(body) | Message::WillTopicUpd(body) => visitor.body(body),
            Message::WillMsg(body) | Message::WillMsgUpd(body) => visitor.body(body),
            Message::Register(body) => visitor.body(body),
            Message::RegAck(body) | Message::PubAck(body) => visitor.body(body),
            Message::Publish(body) => visitor.body(body),
            Message::PubComp(body) | Message::PubRec(body) | Message::PubRel(body) | Message::UnsubAck(body) => {
                visitor.body(body)
            }
            Message::Subscribe(body) => visitor.body(body),
            Message::SubAck(body) => visitor.body(body),
            Message::Unsubscribe(body) => visitor.body(body),
            Message::PingReq(body) => visitor.body(body),
            Message::Disconnect(body) => visitor.body(body),
            Message::ConnAck(body) | Message::WillTopicResp(body) | Message::WillMsgResp(body) => visitor.body(body),
            Message::WillTopicReq | Message::WillMsgReq | Message::PingResp => visitor.body(&()),
        }
    }

    /// Which message it is; its name is [`Kind::name`].
    pub const fn kind(&self) -> Kind {
        match self {
            Message::Advertise(_) => Kind::Advertise,
            Message::SearchGw(_) => Kind::SearchGw,
            Message::GwInfo(_) => Kind::GwInfo,
            Message::Connect(_) => Kind::Connect,
            Message::ConnAck(_) => Kind::ConnAck,
            Message::WillTopicReq => Kind::WillTopicReq,
            Message::WillTopic(_) => Kind::WillTopic,
            Message::WillMsgReq => Kind::WillMsgReq,
            Message::WillMsg(_) => Kind::WillMsg,
            Message::Register(_) => Kind::Register,
            Message::RegAck(_) => Kind::RegAck,
            Message::Publish(_) => Kind::Publish,
            Message::PubAck(_) => Kind::PubAck,
            Message::PubComp(_) => Kind::PubComp,
            Message::PubRec(_) => Kind::PubRec,
            Message::PubRel(_) => Kind::PubRel,
            Message::Subscribe(_) => Kind::Subscribe,
            Message::SubAck(_) => Kind::SubAck,
            Message::Unsubscribe(_) => Kind::Unsubscribe,
            Message::UnsubAck(_) => Kind::UnsubAck,
            Message::PingReq(_) => Kind::PingReq,
            Message::PingResp => Kind::PingResp,
            Message::Disconnect(_) => Kind::Disconnect,
            Message::WillTopicUpd(_) => Kind::WillTopicUpd,
            Message::WillTopicResp(_) => Kind::WillTopicResp,
            Message::WillMsgUpd(_) => Kind::WillMsgUpd,
            Message::WillMsgResp(_) => Kind::WillMsgResp,
        }
    }
}

/// What is done with a body of any type.
trait Visitor {
    type Output;

    fn body(self, body: &impl write::Body) -> Self::Output;
}

struct Measure;

impl Visitor for Measure {
    type Output = usize;

    fn body(self, body: &impl write::Body) -> usize {
        write::message_len(body)
    }
}

struct Encode<'o> {
    kind: Kind,
    len_max: usize,
    out: &'o mut Vec<u8>,
}

impl Visitor for Encode<'_> {
    type Output = Result<usize, EncodeError>;

    #[inline]
    fn body(self, body: &impl write::Body) -> Self::Output {
        write::message(self.kind, body, self.len_max, self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;
    use crate::check::{both_ways, refused};

    fn check(kind: u8, message: Message<'static>) {
        both_ways(&format!("02 {kind:02X}"), message);
        let error = refused(&format!("03 {kind:02X} 00"));
        assert_eq!((error.reason, error.at), (Reason::TrailingBytes, 2));
    }

    #[test]
    fn section_5_4_6_willtopicreq() {
        check(0x06, Message::WillTopicReq);
    }

    #[test]
    fn section_5_4_8_willmsgreq() {
        check(0x08, Message::WillMsgReq);
    }

    #[test]
    fn section_5_4_20_pingresp() {
        check(0x17, Message::PingResp);
    }
}
