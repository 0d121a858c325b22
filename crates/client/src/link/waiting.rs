//! The messages that wait for the caller, with a high and a low mark.

use super::settings::Marks;
use crate::message::Message;
use std::collections::VecDeque;

/// A message, and the connection and the session it came on.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub message: Message,
    pub epoch: u32,
    pub session: u32,
}

/// A queue that says when it is too full and when it has room again.
#[derive(Debug)]
pub(crate) struct Waiting {
    queue: VecDeque<Arrived>,
    bytes: usize,
    marks: Marks,
    is_high: bool,
}

impl Waiting {
    pub fn new(marks: Marks) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, marks, is_high: false }
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Between reaching the high mark and falling to the low one.
    pub fn is_high(&self) -> bool {
        self.is_high
    }

    /// Messages and bytes until the high mark.
    pub fn room(&self) -> (usize, usize) {
        let Marks { high_messages, high_bytes, .. } = self.marks;
        (high_messages.saturating_sub(self.queue.len()), high_bytes.saturating_sub(self.bytes))
    }

    /// Twice what the high marks allow: reached only when the socket had to be read all the same.
    pub fn is_overfull(&self) -> bool {
        self.queue.len() >= 2 * self.marks.high_messages || self.bytes >= 2 * self.marks.high_bytes
    }

    pub fn push(&mut self, arrived: Arrived) {
        self.bytes += cost(&arrived.message);
        self.queue.push_back(arrived);
        self.mark();
    }

    pub fn pop(&mut self) -> Option<Arrived> {
        let arrived = self.queue.pop_front()?;
        self.bytes -= cost(&arrived.message);
        self.mark();
        Some(arrived)
    }

    /// Takes out what `goes` says.
    pub fn take_out(&mut self, goes: impl Fn(&Message) -> bool) -> VecDeque<Arrived> {
        let all = std::mem::take(&mut self.queue);
        let (out, stays) = all.into_iter().partition(|arrived: &Arrived| goes(&arrived.message));
        self.queue = stays;
        self.count();
        out
    }

    /// Puts `first` in front of the others.
    pub fn put_back(&mut self, mut first: VecDeque<Arrived>) {
        first.append(&mut self.queue);
        self.queue = first;
        self.count();
    }

    fn count(&mut self) {
        self.bytes = self.queue.iter().map(|arrived| cost(&arrived.message)).sum();
        self.mark();
    }

    fn mark(&mut self) {
        let Marks { high_messages, low_messages, high_bytes } = self.marks;
        if self.queue.len() >= high_messages || self.bytes >= high_bytes {
            self.is_high = true;
        } else if self.queue.len() <= low_messages && self.bytes <= high_bytes / 2 {
            self.is_high = false;
        }
    }
}

/// What a message keeps, its properties with what holds them: a publisher decides how many there are, and how long.
fn cost(message: &Message) -> usize {
    let user: usize = message.user_properties.iter().map(|pair| size_of_val(pair) + pair.0.len() + pair.1.len()).sum();
    let texts = [&message.content_type, &message.response_topic].into_iter().flatten().map(String::len);
    let properties = texts.sum::<usize>() + message.correlation_data.as_ref().map_or(0, Vec::len);
    message.topic.len() + message.payload.len() + properties + user
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_codec::{Publish, PublishProperties, QoS};

    fn arrived(payload: &[u8]) -> Arrived {
        let properties = PublishProperties::EMPTY;
        let publish = Publish {
            dup: false,
            qos: QoS::AtMostOnce,
            retain: false,
            topic: "t",
            packet_id: None,
            properties,
            payload,
        };
        Arrived { message: Message::from(&publish), epoch: 1, session: 1 }
    }

    /// High at the high mark, and until the low one.
    #[test]
    fn marks_of_messages() {
        let mut waiting = Waiting::new(Marks { high_messages: 3, low_messages: 1, high_bytes: 1000 });
        let mut seen = Vec::new();
        for _ in 0..3 {
            waiting.push(arrived(b"p"));
            seen.push(waiting.is_high());
        }
        for _ in 0..3 {
            waiting.pop();
            seen.push(waiting.is_high());
        }
        assert_eq!(seen, [false, false, true, true, false, false]);
        assert_eq!((waiting.len(), waiting.bytes()), (0, 0));
    }

    /// Do properties count, which a publisher may fill as it likes?
    #[test]
    fn marks_of_properties() {
        let plain = arrived(b"123456789");
        let user = vec![("n".repeat(100), "v".repeat(200))];
        let message = Message {
            user_properties: user,
            content_type: Some("c".repeat(30)),
            response_topic: Some("r".repeat(40)),
            correlation_data: Some(vec![0; 50]),
            ..plain.message
        };
        let least = 10 + 300 + 120;
        let mut waiting = Waiting::new(Marks { high_messages: 100, low_messages: 50, high_bytes: least });
        waiting.push(Arrived { message, epoch: 1, session: 1 });
        assert!(waiting.is_high() && waiting.bytes() >= least);
        waiting.pop();
        assert_eq!(waiting.bytes(), 0);
    }

    /// The same by bytes; and what is taken out does not count.
    #[test]
    fn marks_of_bytes() {
        let mut waiting = Waiting::new(Marks { high_messages: 100, low_messages: 50, high_bytes: 40 });
        (0..4).for_each(|_| waiting.push(arrived(b"123456789")));
        assert!(waiting.is_high() && !waiting.is_overfull());
        waiting.pop();
        assert!(waiting.is_high(), "30 of 40 is above the half");
        waiting.pop();
        assert!(!waiting.is_high());
        let out = waiting.take_out(|message| message.topic == "t");
        assert_eq!((out.len(), waiting.len(), waiting.bytes()), (2, 0, 0));
        waiting.put_back(out);
        assert_eq!((waiting.len(), waiting.bytes()), (2, 20));
    }
}
