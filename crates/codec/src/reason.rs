//! Reason codes: every one of MQTT 5.0, section 2.4, and their 3.1.1 counterparts.
//!
//! One byte, one variant. 0x00 has three names in the specification (Success, Normal disconnection, Granted QoS 0);
//! here it is [`ReasonCode::Success`]. Which code may stand in which packet is the packet's business.

use crate::QoS;

/// Why something was granted, refused or ended.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasonCode {
    /// Success; normal disconnection; granted QoS 0.
    #[default]
    Success = 0x00,
    /// Granted QoS 1.
    GrantedQoS1 = 0x01,
    /// Granted QoS 2.
    GrantedQoS2 = 0x02,
    /// Disconnect with Will Message.
    DisconnectWithWill = 0x04,
    /// No matching subscribers.
    NoMatchingSubscribers = 0x10,
    /// No subscription existed.
    NoSubscriptionExisted = 0x11,
    /// Continue authentication.
    ContinueAuthentication = 0x18,
    /// Re-authenticate.
    ReAuthenticate = 0x19,
    /// Unspecified error; the one failure code of a 3.1.1 SUBACK.
    UnspecifiedError = 0x80,
    /// Malformed Packet.
    MalformedPacket = 0x81,
    /// Protocol Error.
    ProtocolError = 0x82,
    /// Implementation specific error.
    ImplementationSpecificError = 0x83,
    /// Unsupported Protocol Version.
    UnsupportedProtocolVersion = 0x84,
    /// Client Identifier not valid.
    ClientIdentifierNotValid = 0x85,
    /// Bad User Name or Password.
    BadUserNameOrPassword = 0x86,
    /// Not authorized.
    NotAuthorized = 0x87,
    /// Server unavailable.
    ServerUnavailable = 0x88,
    /// Server busy.
    ServerBusy = 0x89,
    /// Banned.
    Banned = 0x8A,
    /// Server shutting down.
    ServerShuttingDown = 0x8B,
    /// Bad authentication method.
    BadAuthenticationMethod = 0x8C,
    /// Keep Alive timeout.
    KeepAliveTimeout = 0x8D,
    /// Session taken over.
    SessionTakenOver = 0x8E,
    /// Topic Filter invalid.
    TopicFilterInvalid = 0x8F,
    /// Topic Name invalid.
    TopicNameInvalid = 0x90,
    /// Packet Identifier in use.
    PacketIdentifierInUse = 0x91,
    /// Packet Identifier not found.
    PacketIdentifierNotFound = 0x92,
    /// Receive Maximum exceeded.
    ReceiveMaximumExceeded = 0x93,
    /// Topic Alias invalid.
    TopicAliasInvalid = 0x94,
    /// Packet too large.
    PacketTooLarge = 0x95,
    /// Message rate too high.
    MessageRateTooHigh = 0x96,
    /// Quota exceeded.
    QuotaExceeded = 0x97,
    /// Administrative action.
    AdministrativeAction = 0x98,
    /// Payload format invalid.
    PayloadFormatInvalid = 0x99,
    /// Retain not supported.
    RetainNotSupported = 0x9A,
    /// QoS not supported.
    QoSNotSupported = 0x9B,
    /// Use another server.
    UseAnotherServer = 0x9C,
    /// Server moved.
    ServerMoved = 0x9D,
    /// Shared Subscriptions not supported.
    SharedSubscriptionsNotSupported = 0x9E,
    /// Connection rate exceeded.
    ConnectionRateExceeded = 0x9F,
    /// Maximum connect time.
    MaximumConnectTime = 0xA0,
    /// Subscription Identifiers not supported.
    SubscriptionIdentifiersNotSupported = 0xA1,
    /// Wildcard Subscriptions not supported.
    WildcardSubscriptionsNotSupported = 0xA2,
}

use ReasonCode::*;

/// Every reason code with its name, in the order of their values.
const ALL: [(ReasonCode, &str); 43] = [
    (Success, "Success"),
    (GrantedQoS1, "Granted QoS 1"),
    (GrantedQoS2, "Granted QoS 2"),
    (DisconnectWithWill, "Disconnect with Will Message"),
    (NoMatchingSubscribers, "No matching subscribers"),
    (NoSubscriptionExisted, "No subscription existed"),
    (ContinueAuthentication, "Continue authentication"),
    (ReAuthenticate, "Re-authenticate"),
    (UnspecifiedError, "Unspecified error"),
    (MalformedPacket, "Malformed Packet"),
    (ProtocolError, "Protocol Error"),
    (ImplementationSpecificError, "Implementation specific error"),
    (UnsupportedProtocolVersion, "Unsupported Protocol Version"),
    (ClientIdentifierNotValid, "Client Identifier not valid"),
    (BadUserNameOrPassword, "Bad User Name or Password"),
    (NotAuthorized, "Not authorized"),
    (ServerUnavailable, "Server unavailable"),
    (ServerBusy, "Server busy"),
    (Banned, "Banned"),
    (ServerShuttingDown, "Server shutting down"),
    (BadAuthenticationMethod, "Bad authentication method"),
    (KeepAliveTimeout, "Keep Alive timeout"),
    (SessionTakenOver, "Session taken over"),
    (TopicFilterInvalid, "Topic Filter invalid"),
    (TopicNameInvalid, "Topic Name invalid"),
    (PacketIdentifierInUse, "Packet Identifier in use"),
    (PacketIdentifierNotFound, "Packet Identifier not found"),
    (ReceiveMaximumExceeded, "Receive Maximum exceeded"),
    (TopicAliasInvalid, "Topic Alias invalid"),
    (PacketTooLarge, "Packet too large"),
    (MessageRateTooHigh, "Message rate too high"),
    (QuotaExceeded, "Quota exceeded"),
    (AdministrativeAction, "Administrative action"),
    (PayloadFormatInvalid, "Payload format invalid"),
    (RetainNotSupported, "Retain not supported"),
    (QoSNotSupported, "QoS not supported"),
    (UseAnotherServer, "Use another server"),
    (ServerMoved, "Server moved"),
    (SharedSubscriptionsNotSupported, "Shared Subscriptions not supported"),
    (ConnectionRateExceeded, "Connection rate exceeded"),
    (MaximumConnectTime, "Maximum connect time"),
    (SubscriptionIdentifiersNotSupported, "Subscription Identifiers not supported"),
    (WildcardSubscriptionsNotSupported, "Wildcard Subscriptions not supported"),
];

/// Index into [`ALL`] by value, or `NONE`.
static INDEX: [u8; 256] = index();
const NONE: u8 = u8::MAX;

const fn index() -> [u8; 256] {
    let mut table = [NONE; 256];
    let mut position = 0;
    while position < ALL.len() {
        table[ALL[position].0 as usize] = position as u8;
        position += 1;
    }
    table
}

impl ReasonCode {
    /// The reason code with this value; `None` when the specification has none.
    pub fn from_u8(value: u8) -> Option<Self> {
        ALL.get(usize::from(INDEX[usize::from(value)])).map(|&(code, _)| code)
    }

    /// The byte on the wire.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The specification's name.
    pub fn name(self) -> &'static str {
        ALL[usize::from(INDEX[usize::from(self.value())])].1
    }

    /// Whether it reports a failure (0x80 and above).
    pub const fn is_error(self) -> bool {
        self.value() >= 0x80
    }

    /// Every reason code, in the order of their values.
    pub fn all() -> impl Iterator<Item = ReasonCode> {
        ALL.iter().map(|&(code, _)| code)
    }

    /// The SUBACK code that grants `qos`.
    pub const fn granted(qos: QoS) -> Self {
        match qos {
            QoS::AtMostOnce => Success,
            QoS::AtLeastOnce => GrantedQoS1,
            QoS::ExactlyOnce => GrantedQoS2,
        }
    }

    /// The return code of a 3.1.1 CONNACK, 0..=5; `None` when 3.1.1 has none and the server must close without CONNACK.
    pub const fn return_code_v311(self) -> Option<u8> {
        match self {
            Success => Some(0),
            UnsupportedProtocolVersion => Some(1),
            ClientIdentifierNotValid => Some(2),
            ServerUnavailable | ServerBusy | ServerShuttingDown | UseAnotherServer | ServerMoved => Some(3),
            ConnectionRateExceeded | QuotaExceeded => Some(3),
            BadUserNameOrPassword | BadAuthenticationMethod => Some(4),
            NotAuthorized | Banned => Some(5),
            _ => None,
        }
    }

    /// The reason code that stands for this return code of a 3.1.1 CONNACK.
    pub const fn from_return_code_v311(code: u8) -> Option<Self> {
        match code {
            0 => Some(Success),
            1 => Some(UnsupportedProtocolVersion),
            2 => Some(ClientIdentifierNotValid),
            3 => Some(ServerUnavailable),
            4 => Some(BadUserNameOrPassword),
            5 => Some(NotAuthorized),
            _ => None,
        }
    }

    /// Views bytes as reason codes; `Err` has the index of the first byte that is none.
    pub(crate) fn slice_from_bytes(bytes: &[u8]) -> Result<&[ReasonCode], usize> {
        if let Some(at) = bytes.iter().position(|&byte| ReasonCode::from_u8(byte).is_none()) {
            return Err(at);
        }
        // SAFETY: `ReasonCode` is `repr(u8)`, so it has the size and alignment of `u8`, and every byte was just seen to
        // be the value of a variant.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<ReasonCode>(), bytes.len()) })
    }
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (0x{:02X})", self.name(), self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_maps_to_itself_and_no_other_is_taken() {
        assert_eq!((0..=255).filter_map(ReasonCode::from_u8).count(), ALL.len());
        for code in ReasonCode::all() {
            assert_eq!(ReasonCode::from_u8(code.value()), Some(code));
            assert!(!code.name().is_empty());
        }
        assert_eq!(ReasonCode::from_u8(0x03), None);
        assert_eq!(PacketTooLarge.to_string(), "Packet too large (0x95)");
    }

    #[test]
    fn return_codes_of_311_survive_both_ways() {
        for code in 0..=5 {
            assert_eq!(ReasonCode::from_return_code_v311(code).and_then(ReasonCode::return_code_v311), Some(code));
        }
        assert_eq!(ReasonCode::from_return_code_v311(6), None);
        assert_eq!(MalformedPacket.return_code_v311(), None);
    }

    #[test]
    fn a_slice_names_its_first_wrong_byte() {
        assert_eq!(ReasonCode::slice_from_bytes(&[0, 1, 0x80]), Ok(&[Success, GrantedQoS1, UnspecifiedError][..]));
        assert_eq!(ReasonCode::slice_from_bytes(&[0, 3]), Err(1));
        assert_eq!(ReasonCode::slice_from_bytes(&[]), Ok(&[][..]));
    }
}
