//! The one message in flight to a client (6.10), sent again until it is answered (6.13).

use crate::{EncodeError, Message, MsgId, PublishQoS, QoS, Register, ReturnCode, TopicId};

use super::Context;

/// The message that waits for its answer.
#[derive(Debug, Default)]
pub struct InFlight {
    /// Its place, from the first message on. It stays for the next one, until time passes without any: most clients are idle.
    place: Option<Box<Option<Waiting>>>,
    last_id: Option<MsgId>,
}

#[derive(Debug)]
struct Waiting {
    awaited: Awaited,
    msg_id: MsgId,
    /// The message as it was sent, without a forwarder.
    bytes: Box<[u8]>,
    retries: u32,
    due_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    RegAck {
        topic_id: Option<TopicId>,
        /// The client was told before, and may have heard it.
        is_repeated: bool,
    },
    PubAck,
    PubRec,
    PubComp,
}

/// What the client said of the message in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// REGACK to the REGISTER of this id. Some clients refuse by 0x02 what they know already: of a REGISTER that was said before
    /// that is no refusal. Who does not know the id will say so of the PUBLISH.
    Registered(Option<TopicId>, ReturnCode),
    /// PUBACK: the PUBLISH is over. To one of QoS 2 it can only be a refusal.
    Published(ReturnCode),
    /// PUBREC: it has the message. PUBREL goes once that is kept; till then nothing is in flight.
    Received,
    /// PUBCOMP: the exchange is over.
    Completed,
}

/// What became of a message whose answer is overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// There is none.
    Nothing,
    /// It was sent again.
    Resent,
    /// It was sent often enough: the client is lost.
    Lost,
}

impl InFlight {
    /// Whether nothing is in flight: the next message may go.
    pub fn is_free(&self) -> bool {
        self.waiting().is_none()
    }

    fn waiting(&self) -> Option<&Waiting> {
        self.place.as_deref()?.as_ref()
    }

    /// The id for the next message; 65535 is followed by 1.
    pub fn next_id(&mut self) -> MsgId {
        let id = self.last_id.map_or(MsgId::MIN, MsgId::next);
        self.last_id = Some(id);
        id
    }

    /// Sends `message` and waits for its answer: a REGISTER, a PUBLISH of QoS 1 or 2 or a PUBREL, when nothing
    /// else is in flight. Anything else is the caller's mistake and refused.
    /// # Errors
    /// It cannot be written, or nothing would answer it; nothing is in flight that was not.
    pub fn send(&mut self, message: &Message<'_>, cx: &mut Context<'_>) -> Result<usize, EncodeError> {
        let Some((awaited, msg_id)) = awaited(message) else {
            return Err(EncodeError::NotRepresentable("a wait for a message that nothing answers"));
        };
        self.begin(message, awaited, msg_id, cx)
    }

    /// The same for a REGISTER; `is_repeated`: the client was told of this id before, and may have heard it.
    /// # Errors
    /// As for [`InFlight::send`].
    pub(super) fn register(
        &mut self,
        register: Register<'_>,
        is_repeated: bool,
        cx: &mut Context<'_>,
    ) -> Result<usize, EncodeError> {
        let awaited = Awaited::RegAck { topic_id: register.topic_id, is_repeated };
        self.begin(&Message::Register(register), awaited, register.msg_id, cx)
    }

    fn begin(
        &mut self,
        message: &Message<'_>,
        awaited: Awaited,
        msg_id: MsgId,
        cx: &mut Context<'_>,
    ) -> Result<usize, EncodeError> {
        if !self.is_free() {
            return Err(EncodeError::NotRepresentable("a second message in flight"));
        }
        let start = cx.out.len();
        let len = message.encode(&cx.settings.limits, cx.out)?;
        let bytes = cx.out[start..].into();
        let due_ms = cx.now_ms + cx.settings.retry_ms;
        **self.place.get_or_insert_default() = Some(Waiting { awaited, msg_id, bytes, retries: 0, due_ms });
        Ok(len)
    }

    /// What a message of the client says of the one in flight; `None`: nothing, it is late or of somebody else.
    ///
    /// PUBREC ends the first half of a message of QoS 2: whoever keeps its state sends PUBREL when that is safe. A PUBREC that
    /// comes again while PUBREL waits is answered with it again: the first was lost.
    pub fn answered(&mut self, message: &Message<'_>, cx: &mut Context<'_>) -> Option<Answer> {
        let waiting = self.waiting()?;
        let (id, awaited) = (waiting.msg_id, waiting.awaited);
        let answer = match (message, awaited) {
            (Message::RegAck(ack), Awaited::RegAck { topic_id, is_repeated }) if ack.msg_id == Some(id) => {
                let has_it = is_repeated && ack.code == ReturnCode::INVALID_TOPIC_ID;
                Answer::Registered(topic_id, if has_it { ReturnCode::ACCEPTED } else { ack.code })
            }
            (Message::PubAck(ack), Awaited::PubAck) if ack.msg_id == Some(id) => Answer::Published(ack.code),
            (Message::PubAck(ack), Awaited::PubRec) if ack.msg_id == Some(id) && !ack.code.is_accepted() => {
                Answer::Published(ack.code)
            }
            (Message::PubRec(of), Awaited::PubRec) if *of == id => Answer::Received,
            (Message::PubRec(of), Awaited::PubComp) if *of == id => {
                cx.out.extend_from_slice(&waiting.bytes);
                return None;
            }
            (Message::PubComp(of), Awaited::PubComp) if *of == id => Answer::Completed,
            _ => return None,
        };
        self.clear();
        Some(answer)
    }

    /// When [`InFlight::tick`] has something to do.
    pub fn next_wake_ms(&self) -> Option<u64> {
        self.waiting().map(|waiting| waiting.due_ms)
    }

    /// Sends again, with DUP where there is one, what is overdue; after the last time nothing is in flight any more.
    pub fn tick(&mut self, cx: &mut Context<'_>) -> Overdue {
        let Some(waiting) = self.place.as_deref_mut().and_then(Option::as_mut) else {
            self.place = None;
            return Overdue::Nothing;
        };
        if cx.now_ms < waiting.due_ms {
            return Overdue::Nothing;
        }
        if waiting.retries >= cx.settings.retries_max {
            self.place = None;
            return Overdue::Lost;
        }
        waiting.retries += 1;
        waiting.due_ms = cx.now_ms + cx.settings.retry_ms;
        match &mut waiting.awaited {
            Awaited::PubAck | Awaited::PubRec => crate::publish::set_dup(&mut waiting.bytes),
            Awaited::RegAck { is_repeated, .. } => *is_repeated = true,
            Awaited::PubComp => {}
        }
        cx.out.extend_from_slice(&waiting.bytes);
        Overdue::Resent
    }

    /// Forgets what is in flight: the connection is over, and its session knows what to send again.
    pub fn clear(&mut self) {
        self.place.iter_mut().for_each(|place| **place = None);
    }
}

fn awaited(message: &Message<'_>) -> Option<(Awaited, MsgId)> {
    match message {
        Message::Register(register) => {
            Some((Awaited::RegAck { topic_id: register.topic_id, is_repeated: false }, register.msg_id))
        }
        Message::Publish(publish) => {
            let awaited =
                if publish.qos == PublishQoS::Level(QoS::ExactlyOnce) { Awaited::PubRec } else { Awaited::PubAck };
            publish.msg_id.map(|id| (awaited, id))
        }
        Message::PubRel(id) => Some((Awaited::PubComp, *id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
