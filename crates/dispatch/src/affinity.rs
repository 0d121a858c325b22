//! Choices that send what belongs together to the same member.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::random::mix;
use crate::work::{Pick, Work};

/// What of a message is hashed.
#[derive(Clone, Copy)]
pub(crate) enum Hashed {
    Client,
    Topic,
}

/// Rendezvous hashing: the member whose hash together with the message's is greatest. When a member leaves or cannot
/// have more, only what was its goes elsewhere.
pub(crate) struct ByHash(pub(crate) Hashed);

impl Choose for ByHash {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let hash = match self.0 {
            Hashed::Client => ask.work.client,
            Hashed::Topic => ask.work.topic,
        };
        let weight = |identity: u64| mix(hash ^ mix(identity));
        let greatest = ask.candidates().max_by_key(|(at, signals)| (weight(signals.identity), *at));
        to_or_wait(greatest.map(|(at, _)| MemberIndex(at as u32)))
    }
}

/// Publishers that are remembered; two whose hashes meet share a member.
const PUBLISHERS: usize = 1024;

/// Each publisher keeps the member it got first, drawn at random, until that one leaves.
pub(crate) struct Sticky {
    of: Box<[Option<MemberIndex>]>,
}

impl Sticky {
    pub(crate) fn new() -> Sticky {
        Sticky { of: vec![None; PUBLISHERS].into_boxed_slice() }
    }

    fn place(work: &Work) -> usize {
        mix(work.client) as usize % PUBLISHERS
    }
}

impl Choose for Sticky {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let kept = &mut self.of[Self::place(ask.work)];
        let signals = kept.and_then(|member| ask.signals.get(member.slot()));
        if let (Some(member), Some(signals)) = (*kept, signals)
            && signals.can_take(ask.now_ms)
        {
            return Pick::To(member);
        }
        let is_new = signals.is_none();
        let drawn = ask.draw();
        // Who is only full now keeps its publisher; this one message goes elsewhere.
        if is_new {
            *kept = drawn;
        }
        to_or_wait(drawn)
    }

    fn left(&mut self, member: MemberIndex) {
        for kept in &mut self.of {
            if *kept == Some(member) {
                *kept = None;
            }
        }
    }
}
