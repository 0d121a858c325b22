//! The quality of service of a PUBLISH: MQTT's three levels, and -1.

use crate::QoS;

/// How a message is published (5.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublishQoS {
    /// QoS -1: without a connection, by who knows the topic's predefined id or short name (6.8).
    MinusOne,
    /// QoS 0, 1 or 2, within a connection.
    Level(QoS),
}

impl PublishQoS {
    /// Whether the PUBLISH has a message id and is acknowledged.
    pub const fn is_acknowledged(self) -> bool {
        match self {
            PublishQoS::MinusOne => false,
            PublishQoS::Level(qos) => qos.is_acknowledged(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_5_4_12_levels_1_and_2_are_acknowledged() {
        let acknowledged = [PublishQoS::Level(QoS::AtLeastOnce), PublishQoS::Level(QoS::ExactlyOnce)];
        assert!(acknowledged.iter().all(|qos| qos.is_acknowledged()));
        assert!(!PublishQoS::MinusOne.is_acknowledged() && !PublishQoS::Level(QoS::AtMostOnce).is_acknowledged());
    }
}
