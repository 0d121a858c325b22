//! MsgType: the byte behind the length (5.2.2).

/// A message type; the value is the byte on the wire.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the messages of the specification, documented on their types")]
pub enum Kind {
    Advertise = 0x00,
    SearchGw = 0x01,
    GwInfo = 0x02,
    Connect = 0x04,
    ConnAck = 0x05,
    WillTopicReq = 0x06,
    WillTopic = 0x07,
    WillMsgReq = 0x08,
    WillMsg = 0x09,
    Register = 0x0A,
    RegAck = 0x0B,
    Publish = 0x0C,
    PubAck = 0x0D,
    PubComp = 0x0E,
    PubRec = 0x0F,
    PubRel = 0x10,
    Subscribe = 0x12,
    SubAck = 0x13,
    Unsubscribe = 0x14,
    UnsubAck = 0x15,
    PingReq = 0x16,
    PingResp = 0x17,
    Disconnect = 0x18,
    WillTopicUpd = 0x1A,
    WillTopicResp = 0x1B,
    WillMsgUpd = 0x1C,
    WillMsgResp = 0x1D,
}

/// The type of an encapsulated message (5.5): not a message of its own.
pub(crate) const ENCAPSULATED: u8 = 0xFE;

use Kind::*;

/// Every kind with its name, in the order of their values.
const ALL: [(Kind, &str); 27] = [
    (Advertise, "ADVERTISE"),
    (SearchGw, "SEARCHGW"),
    (GwInfo, "GWINFO"),
    (Connect, "CONNECT"),
    (ConnAck, "CONNACK"),
    (WillTopicReq, "WILLTOPICREQ"),
    (WillTopic, "WILLTOPIC"),
    (WillMsgReq, "WILLMSGREQ"),
    (WillMsg, "WILLMSG"),
    (Register, "REGISTER"),
    (RegAck, "REGACK"),
    (Publish, "PUBLISH"),
    (PubAck, "PUBACK"),
    (PubComp, "PUBCOMP"),
    (PubRec, "PUBREC"),
    (PubRel, "PUBREL"),
    (Subscribe, "SUBSCRIBE"),
    (SubAck, "SUBACK"),
    (Unsubscribe, "UNSUBSCRIBE"),
    (UnsubAck, "UNSUBACK"),
    (PingReq, "PINGREQ"),
    (PingResp, "PINGRESP"),
    (Disconnect, "DISCONNECT"),
    (WillTopicUpd, "WILLTOPICUPD"),
    (WillTopicResp, "WILLTOPICRESP"),
    (WillMsgUpd, "WILLMSGUPD"),
    (WillMsgResp, "WILLMSGRESP"),
];

/// Index into [`ALL`] by value; `NONE` for what is reserved. All values are below 32.
static INDEX: [u8; 32] = index();
const NONE: u8 = u8::MAX;

const fn index() -> [u8; 32] {
    let mut table = [NONE; 32];
    let mut position = 0;
    while position < ALL.len() {
        table[ALL[position].0 as usize] = position as u8;
        position += 1;
    }
    table
}

impl Kind {
    /// The kind with this value; `None` when the specification reserves it.
    pub fn from_u8(value: u8) -> Option<Self> {
        let index = *INDEX.get(usize::from(value))?;
        ALL.get(usize::from(index)).map(|&(kind, _)| kind)
    }

    /// The byte on the wire.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The specification's name.
    pub fn name(self) -> &'static str {
        ALL[usize::from(INDEX[usize::from(self.value())])].1
    }

    /// Every kind, in the order of their values.
    pub fn all() -> impl Iterator<Item = Kind> {
        ALL.iter().map(|&(kind, _)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;
    use crate::check::refused;

    #[test]
    fn section_5_2_2_every_value_maps_to_itself() {
        assert_eq!((0..=255).filter_map(Kind::from_u8).count(), ALL.len());
        for kind in Kind::all() {
            assert_eq!(Kind::from_u8(kind.value()), Some(kind));
            assert!(!kind.name().is_empty());
        }
    }

    #[test]
    fn section_5_2_2_reserved_types_are_refused() {
        for value in (0..=255_u8).filter(|&value| Kind::from_u8(value).is_none() && value != ENCAPSULATED) {
            let error = refused(&format!("02 {value:02X}"));
            assert_eq!((error.reason, error.at, error.answer), (Reason::UnknownType, 1, None), "{value:#x}");
        }
    }
}
