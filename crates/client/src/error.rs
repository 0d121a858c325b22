//! What can go wrong on one connection, and whose fault it is.

use crate::rejections::Rejections;
use lapwing_codec::{EncodeError, ProtocolError, ReasonCode};
use std::io;

/// An error of one client's connection.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody answers there. Worth a retry.
    #[error("cannot connect to {address}: {source}")]
    Unreachable {
        /// Where, as a URL.
        address: String,
        /// The system's answer.
        source: io::Error,
    },
    /// TLS did not come about, or broke: a certificate that is not trusted, another name in it, no TLS at all.
    #[error("TLS: {0}")]
    Tls(String),
    /// Whoever answers does not speak MQTT over WebSocket at this address.
    #[error("no WebSocket: {0}")]
    WebSocket(String),
    /// The broker answered CONNECT with a reason not to. Worth a retry only when `is_temporary`.
    #[error("the broker refused the connection: {reason}{detail}")]
    Refused {
        /// Why.
        reason: ReasonCode,
        /// The broker's own words (": ..."), or nothing.
        detail: String,
    },
    /// The broker ended the connection with a DISCONNECT. Worth a retry when the reason is.
    #[error("the broker disconnected: {reason}{detail}")]
    Disconnected {
        /// Why.
        reason: ReasonCode,
        /// The broker's own words (": ..."), or nothing.
        detail: String,
    },
    /// The connection broke without a word. Worth a retry.
    #[error("the connection was lost: {0}")]
    Lost(io::Error),
    /// The broker sent something MQTT does not allow: the peer's fault.
    #[error("the broker broke the protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// Messages that the broker refused, or that could not be sent; the connection stands.
    #[error("{0}")]
    Unpublished(Rejections),
    /// The broker refused a subscription; the connection stands.
    #[error("{what} was refused: {reason}")]
    Rejected {
        /// What was refused: `subscription to "a/#"`.
        what: String,
        /// Why.
        reason: ReasonCode,
    },
    /// What was waited for did not come in time.
    #[error("{what} did not come within {after_s} s")]
    TimedOut {
        /// What was waited for.
        what: &'static str,
        /// How long, in seconds.
        after_s: f64,
    },
    /// The caller asked for something that cannot be: the caller's fault.
    #[error("{0}")]
    Invalid(String),
    /// The caller used a client that is not connected.
    #[error("not connected")]
    NotConnected,
}

impl ClientError {
    /// A short, stable name for counters: one per kind, and one per reason code.
    pub fn label(&self) -> String {
        match self {
            Self::Unreachable { source, .. } => format!("cannot connect: {}", source.kind()),
            Self::Tls(_) => "TLS failed".to_owned(),
            Self::WebSocket(_) => "no WebSocket".to_owned(),
            Self::Refused { reason, .. } => format!("refused: {}", reason.name()),
            Self::Disconnected { reason, .. } => format!("disconnected: {}", reason.name()),
            Self::Lost(source) => format!("connection lost: {}", source.kind()),
            Self::Protocol(error) => format!("protocol error: {}", error.what),
            Self::Unpublished(rejections) => {
                let reason = rejections.iter().next().map_or("", |first| first.reason.name());
                format!("rejected: {reason}")
            }
            Self::Rejected { reason, .. } => format!("rejected: {}", reason.name()),
            Self::TimedOut { what, .. } => format!("timed out: {what}"),
            Self::Invalid(_) => "invalid request".to_owned(),
            Self::NotConnected => "not connected".to_owned(),
        }
    }

    /// True when the same request may succeed later without any change.
    pub fn is_temporary(&self) -> bool {
        use ReasonCode as R;
        match self {
            Self::Unreachable { .. } | Self::Lost(_) | Self::TimedOut { .. } => true,
            Self::Refused { reason, .. } | Self::Disconnected { reason, .. } => matches!(
                reason,
                R::Success
                    | R::UnspecifiedError
                    | R::ServerUnavailable
                    | R::ServerBusy
                    | R::ServerShuttingDown
                    | R::KeepAliveTimeout
                    | R::MessageRateTooHigh
                    | R::QuotaExceeded
                    | R::ConnectionRateExceeded
                    | R::MaximumConnectTime
                    | R::UseAnotherServer
                    | R::AdministrativeAction
            ),
            _ => false,
        }
    }
}

/// A packet that cannot be written was the caller's wish.
impl From<EncodeError> for ClientError {
    fn from(error: EncodeError) -> Self {
        Self::Invalid(error.to_string())
    }
}
