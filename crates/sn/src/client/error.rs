//! Why a connection over MQTT-SN is over.

use lapwing_codec::ProtocolError;
use thiserror::Error as ThisError;

use crate::{EncodeError, ReturnCode};

use super::Unfit;

/// The end of a connection. Whether another is worth a try, each says.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// No answer after N_retry times: worth a try.
    #[error("the gateway did not answer a {kind}, sent {times} times within {after_ms} ms")]
    Lost {
        /// What was not answered.
        kind: &'static str,
        /// How often it was sent.
        times: u32,
        /// From the first time to the end of the last wait, in milliseconds.
        after_ms: u64,
    },
    /// DISCONNECT: the gateway does not know this client any more, or ends its connection. Worth a try.
    #[error("the gateway ended the connection (DISCONNECT)")]
    Dismissed,
    /// CONNACK with a code. Worth a try when that is congestion.
    #[error("the gateway refused the connection: {0}")]
    Refused(ReturnCode),
    /// MQTT-SN has no way to say it: the caller's mistake.
    #[error("{0}")]
    NotSayable(&'static str),
    /// It does not fit a datagram: the caller's mistake.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// What the client wrote is no packet of MQTT 3.1.1: the caller's mistake.
    #[error("no packet of MQTT 3.1.1: {0}")]
    NoPacket(#[from] ProtocolError),
}

/// What a message that cannot be written was to say is known to [`Unfit`] only.
impl Error {
    pub(super) fn of(error: EncodeError, what: &'static str) -> Self {
        match error {
            EncodeError::TooLarge { len, max } => Error::Unfit(Unfit { what, len, max }),
            EncodeError::NotRepresentable(what) => Error::NotSayable(what),
        }
    }
}
