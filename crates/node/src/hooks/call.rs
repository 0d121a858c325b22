//! What a hook is asked or told.

use std::fmt;
use std::sync::Arc;

use lapwing_codec::{ReasonCode, SubscriptionOptions};

use super::{HookMessage, HookName};

/// Who does something: one client with its present connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookClient {
    /// Its client id, assigned or its own.
    pub client_id: Arc<str>,
    /// Who it is, as authenticated; `None`: anonymous.
    pub identity: Option<Arc<str>>,
    /// Where it connects from, as text; empty: it was there before the node started.
    pub address: String,
    /// The protocol level: 3, 4 or 5; 0: it was there before the node started.
    pub version: u8,
}

/// A CONNECT that waits for its verdict.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectCall {
    /// The client; its identity is what the broker itself has found out.
    pub client: Arc<HookClient>,
    /// User Name, as sent: the broker has verified it only if it is the client's identity.
    pub username: Option<String>,
    /// Password, as sent.
    pub password: Option<Vec<u8>>,
    /// Clean Start, or Clean Session.
    pub clean_start: bool,
    /// Keep Alive, in seconds; 0: off.
    pub keep_alive_s: u16,
    /// The will.
    pub will: Option<HookMessage>,
    /// User Properties, in order.
    pub user_properties: Vec<(String, String)>,
}

/// A step of an enhanced authentication (MQTT 5.0, section 4.12).
#[derive(Clone, PartialEq, Eq)]
pub struct AuthCall {
    /// The client; its identity is the one that it has already, if any.
    pub client: Arc<HookClient>,
    /// Authentication Method.
    pub method: String,
    /// Authentication Data.
    pub data: Option<Vec<u8>>,
    /// The first step: a CONNECT, or an AUTH with 0x19.
    pub is_first: bool,
    /// The client is connected and authenticates itself again.
    pub again: bool,
}

/// One filter of a SUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribeCall {
    /// Who subscribes.
    pub client: Arc<HookClient>,
    /// The filter as the client wrote it, with `$share/...`.
    pub filter: Box<str>,
    /// What it asks for.
    pub options: SubscriptionOptions,
    /// Its Subscription Identifier.
    pub subscription_id: Option<u32>,
}

/// One call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookCall {
    /// `on_connect`: pass, refuse, or say who it is.
    Connect(Box<ConnectCall>),
    /// `on_auth`: go on, done, or refuse.
    Auth(Box<AuthCall>),
    /// `on_subscribe`: pass, refuse, or grant other options.
    Subscribe(Box<SubscribeCall>),
    /// `on_publish`: pass, refuse, or change. `is_will`: it is published in place of its client, which has gone.
    Publish {
        /// Who publishes.
        client: Arc<HookClient>,
        /// What.
        message: Box<HookMessage>,
        /// It is a will.
        is_will: bool,
    },
    /// `on_connected`.
    Connected {
        /// Who.
        client: Arc<HookClient>,
        /// It goes on with a session.
        session_present: bool,
    },
    /// `on_disconnected`.
    Disconnected {
        /// Who.
        client: Arc<HookClient>,
        /// Why; `None`: the connection broke without a word.
        reason: Option<ReasonCode>,
    },
    /// `on_subscribed`.
    Subscribed {
        /// Who.
        client: Arc<HookClient>,
        /// What.
        filter: Box<str>,
        /// The granted QoS.
        qos: u8,
    },
    /// `on_unsubscribed`.
    Unsubscribed {
        /// Who.
        client: Arc<HookClient>,
        /// What.
        filter: Box<str>,
    },
    /// `on_published`.
    Published {
        /// Who.
        client: Arc<HookClient>,
        /// What, as it was routed.
        message: Box<HookMessage>,
    },
}

impl HookCall {
    /// Which hook is called.
    pub const fn hook(&self) -> HookName {
        match self {
            HookCall::Connect(_) => HookName::Connect,
            HookCall::Auth(_) => HookName::Auth,
            HookCall::Subscribe(_) => HookName::Subscribe,
            HookCall::Publish { .. } => HookName::Publish,
            HookCall::Connected { .. } => HookName::Connected,
            HookCall::Disconnected { .. } => HookName::Disconnected,
            HookCall::Subscribed { .. } => HookName::Subscribed,
            HookCall::Unsubscribed { .. } => HookName::Unsubscribed,
            HookCall::Published { .. } => HookName::Published,
        }
    }

    /// Bytes that it costs to keep, roughly.
    pub(crate) fn footprint(&self) -> usize {
        let own = match self {
            HookCall::Connect(call) => {
                let user: usize = call.user_properties.iter().map(|(key, value)| key.len() + value.len() + 48).sum();
                size_of::<ConnectCall>() + user + call.will.as_ref().map_or(0, HookMessage::footprint)
            }
            HookCall::Auth(call) => size_of::<AuthCall>() + call.data.as_ref().map_or(0, Vec::len),
            HookCall::Subscribe(call) => size_of::<SubscribeCall>() + call.filter.len(),
            HookCall::Publish { message, .. } | HookCall::Published { message, .. } => message.footprint(),
            HookCall::Subscribed { filter, .. } | HookCall::Unsubscribed { filter, .. } => filter.len(),
            HookCall::Connected { .. } | HookCall::Disconnected { .. } => 0,
        };
        size_of::<HookCall>() + own
    }
}

impl fmt::Debug for ConnectCall {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectCall")
            .field("client", &self.client)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AuthCall {
    /// Without the data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthCall").field("client", &self.client).field("method", &self.method).finish_non_exhaustive()
    }
}
