//! What a client's message means to whoever has its session.

use std::sync::Arc;

use crate::{MsgId, PublishQoS, PublishTopic, QoS, SubscribeTopic, TopicId, WillTopic};

use super::content::Content;
use super::{Answer, Topic, WillChange};

/// What is to be done; each says how the client is answered when it has been done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Nothing: it was answered, if it wants an answer, or is a repeat.
    Nothing,
    /// It does not belong here: a gateway's message, or one of a set-up that there is not. To be counted.
    OutOfState,
    /// It was refused, by the code of the specification where there is somebody to hear it. To be counted.
    Refused,
    /// Nobody is connected; the client was told so. To be counted.
    Unknown,
    /// The session is to be opened; then [`super::Client::opened`].
    Connect {
        /// Who it says it is; it has that id when it is accepted, and not before.
        client_id: Arc<str>,
        /// Nothing of an older session counts.
        clean_session: bool,
        /// What becomes of the will.
        will: WillChange,
    },
    /// A sleeping client is active again, in the session that it has. What waits may go to it.
    Returned,
    /// A message; then [`super::Client::published`] with the receipt, unless the QoS is 0 or -1.
    Publish {
        /// Its topic.
        topic: Topic<'a>,
        /// -1 comes from anybody: whether it may, is not known here.
        qos: PublishQoS,
        /// Whether it is to be retained.
        retain: bool,
        /// It was sent before, perhaps to a gateway that has forgotten it.
        dup: bool,
        /// Its data.
        payload: &'a [u8],
        /// What answers it; `None`: nothing.
        receipt: Option<Receipt>,
        /// A message of QoS 2 that the client will not release, for it has begun this one: its session is to release it, and the
        /// client does not hear of that. [`super::Client::not_given_up`] where it cannot be told.
        given_up: Option<MsgId>,
    },
    /// A message of QoS 2 is released, perhaps not for the first time; then [`super::Client::completed`].
    Release(MsgId),
    /// A subscription; then [`super::Client::subscribed`] with the request.
    Subscribe {
        /// Its filter.
        filter: Topic<'a>,
        /// The QoS that is asked for.
        qos: QoS,
        /// What answers it.
        request: SubscribeRequest,
    },
    /// The end of a subscription; then [`super::Client::unsubscribed`].
    Unsubscribe {
        /// Its filter.
        filter: Topic<'a>,
        /// What answers it.
        msg_id: MsgId,
    },
    /// A new will topic, or none; then [`super::Client::will_topic_stored`].
    WillTopic(Option<WillTopic<'a>>),
    /// A new will message; then [`super::Client::will_message_stored`].
    WillMessage(&'a [u8]),
    /// The client said what became of the message in flight; the next may go.
    Answered(Answer),
    /// It awoke: what waits may go to it, then [`super::Client::drained`].
    Awake,
    /// It sleeps: what comes waits.
    Asleep,
    /// It went, without its will.
    Gone,
}

/// Which PUBLISH an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub(super) qos: QoS,
    pub(super) topic: PublishTopic,
    pub(super) msg_id: MsgId,
}

impl Receipt {
    /// The message id, as the client chose it.
    pub const fn msg_id(self) -> MsgId {
        self.msg_id
    }

    /// 1 or 2.
    pub const fn qos(self) -> QoS {
        self.qos
    }
}

/// Which SUBSCRIBE an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscribeRequest {
    pub(super) msg_id: MsgId,
    /// The id that the topic has for the client.
    pub(super) topic: TopicOf,
    /// What a repeat of it says too.
    pub(super) content: Content,
}

/// The id of a topic that is subscribed to: which table it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TopicOf {
    Registered(TopicId),
    Predefined(TopicId),
    /// Wildcards, and a short name.
    None,
}

impl TopicOf {
    pub(super) const fn id(self) -> Option<TopicId> {
        match self {
            TopicOf::Registered(id) | TopicOf::Predefined(id) => Some(id),
            TopicOf::None => None,
        }
    }
}

impl SubscribeRequest {
    /// The message id, as the client chose it.
    pub const fn msg_id(self) -> MsgId {
        self.msg_id
    }
}

/// Whether a filter is a topic name, which gets an id.
pub(super) fn is_plain(topic: SubscribeTopic<'_>) -> bool {
    matches!(topic, SubscribeTopic::Filter(filter) if !filter.contains(['+', '#']) && !filter.starts_with("$share/"))
}
