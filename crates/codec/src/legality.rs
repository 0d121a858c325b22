//! Which reason code may stand in which packet (MQTT 5.0, section 2.4 and the tables of each packet).

use crate::ReasonCode::{self, *};
use crate::owner::*;

const PUBLISH_ACKS: Owners = PUBACK | PUBREC;
const RELEASE_ACKS: Owners = PUBREL | PUBCOMP;
const SUB_ACKS: Owners = SUBACK | UNSUBACK;

/// The packets in which `code` may stand.
const fn owners(code: ReasonCode) -> Owners {
    match code {
        Success => CONNACK | ACKS | SUB_ACKS | DISCONNECT | AUTH,
        GrantedQoS1 | GrantedQoS2 => SUBACK,
        DisconnectWithWill => DISCONNECT,
        NoMatchingSubscribers => PUBLISH_ACKS,
        NoSubscriptionExisted => UNSUBACK,
        ContinueAuthentication | ReAuthenticate => AUTH,
        UnspecifiedError | ImplementationSpecificError | NotAuthorized => {
            CONNACK | PUBLISH_ACKS | SUB_ACKS | DISCONNECT
        }
        MalformedPacket | ProtocolError | ServerBusy | PacketTooLarge => CONNACK | DISCONNECT,
        UnsupportedProtocolVersion | ClientIdentifierNotValid | BadUserNameOrPassword => CONNACK,
        ServerUnavailable | Banned | BadAuthenticationMethod => CONNACK,
        ServerShuttingDown | KeepAliveTimeout | SessionTakenOver => DISCONNECT,
        TopicFilterInvalid => SUB_ACKS | DISCONNECT,
        TopicNameInvalid | PayloadFormatInvalid => CONNACK | PUBLISH_ACKS | DISCONNECT,
        PacketIdentifierInUse => PUBLISH_ACKS | SUB_ACKS,
        PacketIdentifierNotFound => RELEASE_ACKS,
        ReceiveMaximumExceeded | TopicAliasInvalid | MessageRateTooHigh | AdministrativeAction => DISCONNECT,
        QuotaExceeded => CONNACK | PUBLISH_ACKS | SUBACK | DISCONNECT,
        RetainNotSupported | QoSNotSupported | UseAnotherServer | ServerMoved => CONNACK | DISCONNECT,
        ConnectionRateExceeded => CONNACK | DISCONNECT,
        SharedSubscriptionsNotSupported | SubscriptionIdentifiersNotSupported => SUBACK | DISCONNECT,
        WildcardSubscriptionsNotSupported => SUBACK | DISCONNECT,
        MaximumConnectTime => DISCONNECT,
    }
}

/// Whether `code` may stand in the packet `owner`.
pub(crate) const fn is_legal(code: ReasonCode, owner: Owners) -> bool {
    owners(code) & owner != 0
}

impl ReasonCode {
    /// Whether a CONNACK may carry it (5.0).
    pub const fn is_legal_in_connack(self) -> bool {
        is_legal(self, CONNACK)
    }

    /// Whether a DISCONNECT may carry it (5.0).
    pub const fn is_legal_in_disconnect(self) -> bool {
        is_legal(self, DISCONNECT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of the tables in sections 3.2.2.2, 3.4.2.1, 3.5.2.1, 3.6.2.1, 3.7.2.1, 3.9.3, 3.11.3, 3.14.2.1, 3.15.2.1.
    #[test]
    fn each_packet_has_as_many_codes_as_its_table() {
        for (owner, expected) in [
            (CONNACK, 22),
            (PUBACK, 9),
            (PUBREC, 9),
            (PUBREL, 2),
            (PUBCOMP, 2),
            (SUBACK, 12),
            (UNSUBACK, 7),
            (DISCONNECT, 29),
            (AUTH, 3),
        ] {
            let codes: Vec<_> = ReasonCode::all().filter(|&code| is_legal(code, owner)).collect();
            assert_eq!(codes.len(), expected, "{owner:#06x}: {codes:?}");
        }
    }

    #[test]
    fn a_reason_is_asked_for_by_the_packet_that_says_it() {
        for (reason, connack, disconnect) in [
            (ReasonCode::NotAuthorized, true, true),
            (ReasonCode::BadUserNameOrPassword, true, false),
            (ReasonCode::KeepAliveTimeout, false, true),
            (ReasonCode::PacketIdentifierInUse, false, false),
        ] {
            let asked = (reason.is_legal_in_connack(), reason.is_legal_in_disconnect());
            assert_eq!(asked, (connack, disconnect), "{reason:?}");
        }
    }
}
