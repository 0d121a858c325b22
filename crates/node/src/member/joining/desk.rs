//! Who waits for an entry of metadata: newcomers, and whoever has this node say something.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant, SystemTime};

use lapwing_authority::Authority;
use lapwing_cluster::{Answer, ClusterState, Entry, Refusal};

use super::answer::{Refused, welcome};
use super::asked::Asked;
use crate::member::error::MemberError;

/// Newcomers at a time.
const ASKS_MAX: usize = 8;
/// Tokens and removals at a time that somebody waits for.
const WISHES_MAX: usize = 64;
/// How long anybody is waited for who may have gone.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// All that wait. It is the raft thread's.
pub(in crate::member) struct Desk {
    pub(in crate::member) authority: Option<Authority>,
    next: u64,
    asks: BTreeMap<u64, Ask>,
    wishes: Vec<Wish>,
    /// Wishes that were refused because so many waited.
    pub(in crate::member) crowded_out: u64,
}

/// A newcomer.
struct Ask {
    asked: Asked,
    /// Proposed, and not applied yet.
    entry: Option<Entry>,
    answer: Option<Vec<u8>>,
}

/// Somebody has this node say something.
struct Wish {
    entry: Entry,
    reply: SyncSender<Result<(), MemberError>>,
    is_proposed: bool,
    since: Instant,
}

/// What is to be decided on next.
pub(in crate::member) enum Next {
    Ask(u64, Asked),
    Wish(Entry),
}

impl Desk {
    pub(in crate::member) fn new(authority: Option<Authority>) -> Desk {
        Desk { authority, next: 0, asks: BTreeMap::new(), wishes: Vec::new(), crowded_out: 0 }
    }

    /// Somebody asks to join: the number under which the answer is had. `None`: too many do.
    pub(in crate::member) fn ask(&mut self, asked: Asked) -> Option<u64> {
        if self.asks.len() >= ASKS_MAX {
            return None;
        }
        self.next += 1;
        self.asks.insert(self.next, Ask { asked, entry: None, answer: None });
        Some(self.next)
    }

    /// Its answer, once there is one; given once.
    pub(in crate::member) fn take_answer(&mut self, number: u64) -> Option<Vec<u8>> {
        self.asks.get_mut(&number)?.answer.take()
    }

    /// Its connection is over. What was proposed may hold all the same.
    pub(in crate::member) fn left(&mut self, number: u64) {
        self.asks.remove(&number);
    }

    /// Somebody has this node say something, and waits for what comes of it; refused where too many do.
    pub(in crate::member) fn wish(&mut self, entry: Entry, reply: SyncSender<Result<(), MemberError>>, now: Instant) {
        if self.wishes.len() >= WISHES_MAX {
            self.crowded_out += 1;
            // Whoever asked may have gone.
            let _ = reply.send(Err(MemberError::ManyWishes { waiting: WISHES_MAX }));
            return;
        }
        self.wishes.push(Wish { entry, reply, is_proposed: false, since: now });
    }

    /// What is next, of what nobody has decided on.
    pub(in crate::member) fn next(&self) -> Option<Next> {
        if let Some(wish) = self.wishes.iter().find(|wish| !wish.is_proposed) {
            return Some(Next::Wish(wish.entry.clone()));
        }
        let is_open = |ask: &Ask| ask.entry.is_none() && ask.answer.is_none();
        let (number, ask) = self.asks.iter().find(|(_, ask)| is_open(ask))?;
        Some(Next::Ask(*number, ask.asked.clone()))
    }

    /// Whether anybody waits whom nobody has decided on.
    pub(in crate::member) fn is_waiting(&self) -> bool {
        self.next().is_some()
    }

    /// This entry was proposed for a newcomer.
    pub(in crate::member) fn proposed_ask(&mut self, number: u64, entry: Entry) {
        if let Some(ask) = self.asks.get_mut(&number) {
            ask.entry = Some(entry);
        }
    }

    /// A newcomer does not join.
    pub(in crate::member) fn refuse_ask(&mut self, number: u64, refused: &Refused) {
        if let Some(ask) = self.asks.get_mut(&number) {
            ask.answer = Some(refused.encode());
        }
    }

    /// This was proposed for somebody.
    pub(in crate::member) fn proposed_wish(&mut self, entry: &Entry) {
        if let Some(wish) = self.wishes.iter_mut().find(|wish| !wish.is_proposed && wish.entry == *entry) {
            wish.is_proposed = true;
        }
    }

    /// This is not said.
    pub(in crate::member) fn refuse_wish(&mut self, entry: &Entry, why: MemberError) {
        if let Some(place) = self.wishes.iter().position(|wish| !wish.is_proposed && wish.entry == *entry) {
            // Whoever asked may have gone.
            let _ = self.wishes.remove(place).reply.send(Err(why));
        }
    }

    /// This node does not lead: whoever was not decided on goes elsewhere.
    pub(in crate::member) fn send_away(&mut self, leader: Option<(u8, &str)>) {
        let refused = Refused::elsewhere(leader.map(|(_, address)| address)).encode();
        for ask in self.asks.values_mut().filter(|ask| ask.entry.is_none() && ask.answer.is_none()) {
            ask.answer = Some(refused.clone());
        }
        let node = leader.map(|(node, _)| node);
        for wish in std::mem::take(&mut self.wishes) {
            if wish.is_proposed {
                self.wishes.push(wish);
            } else {
                let _ = wish.reply.send(Err(MemberError::NotLeader { leader: node }));
            }
        }
    }

    /// Nobody waits for these any more.
    pub(in crate::member) fn sweep(&mut self, now: Instant) {
        self.wishes.retain(|wish| now.saturating_duration_since(wish.since) < WAIT_MAX);
    }

    /// An entry was applied, whoever proposed it: those that wait for it are answered.
    pub(in crate::member) fn applied(&mut self, entry: &Entry, answer: &Result<Answer, Refusal>, state: &ClusterState) {
        if let Some(place) = self.wishes.iter().position(|wish| wish.is_proposed && wish.entry == *entry) {
            let said = answer.as_ref().map(|_| ()).map_err(|refusal| MemberError::Unsaid(refusal.to_string()));
            let _ = self.wishes.remove(place).reply.send(said);
        }
        let Some(ask) = self.asks.values_mut().find(|ask| ask.entry.as_ref() == Some(entry)) else { return };
        let welcomed = match (answer, &self.authority) {
            (Ok(Answer::Member(node)), Some(authority)) => {
                welcome(authority, state, *node, &ask.asked.request, SystemTime::now())
            }
            (Err(refusal), _) => Err(Refused::of(refusal)),
            _ => Err(Refused::elsewhere(None)),
        };
        ask.answer = Some(welcomed.unwrap_or_else(|refused| refused.encode()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_cluster::{Features, FolderId, Newcomer, NodeId, SecretHash, Tables};
    use std::sync::mpsc::sync_channel;

    fn asked(number: u8) -> Asked {
        let newcomer = Newcomer {
            name: format!("n{number}"),
            folder: FolderId([number; 16]),
            addresses: vec!["h:1".into()],
            zone: String::new(),
            release: String::new(),
            features: Features { least: 1, most: 1 },
        };
        Asked { secret: SecretHash([number; 32]), newcomer, tables: Tables::default(), request: String::new() }
    }

    /// Are newcomers bounded, and answered once each when this node does not lead?
    #[test]
    fn newcomers_are_bounded_and_sent_away() {
        let mut desk = Desk::new(None);
        let numbers: Vec<u64> = (0..ASKS_MAX as u8).filter_map(|number| desk.ask(asked(number))).collect();
        assert_eq!((numbers.len(), desk.ask(asked(99))), (ASKS_MAX, None));
        desk.left(numbers[0]);
        assert!(desk.ask(asked(99)).is_some());
        desk.send_away(Some((2, "h:2")));
        assert!(!desk.is_waiting());
        assert!(desk.take_answer(numbers[1]).is_some_and(|answer| answer.windows(3).any(|part| part == b"h:2")));
        assert_eq!((desk.take_answer(numbers[1]), desk.take_answer(numbers[0])), (None, None));
    }

    /// Are those who have something said bounded, told so, and counted; and does somebody come in when another one is answered?
    #[test]
    fn wishes_are_bounded() {
        let (mut desk, now) = (Desk::new(None), Instant::now());
        let entry = |number: usize| Entry::Promoted { node: NodeId(number as u8) };
        let wish = |desk: &mut Desk, number| {
            let (reply, answer) = sync_channel(1);
            desk.wish(entry(number), reply, now);
            answer
        };
        let answers: Vec<_> = (0..WISHES_MAX).map(|number| wish(&mut desk, number)).collect();
        assert!(answers.iter().all(|answer| answer.try_recv().is_err()), "all wait");
        let refused = wish(&mut desk, 99).try_recv().expect("it is answered").expect_err("too many wait");
        assert_eq!((refused.code(), desk.crowded_out), ("too_many_changes", 1));
        desk.refuse_wish(&entry(0), MemberError::Unanswered);
        assert!(wish(&mut desk, 99).try_recv().is_err(), "it waits");
        desk.sweep(now + WAIT_MAX);
        assert!(!desk.is_waiting(), "nobody is waited for");
    }

    /// Is whoever had something said answered when that is applied, and not before?
    #[test]
    fn wishes_are_answered_when_they_hold() {
        let (mut desk, state, now) = (Desk::new(None), ClusterState::new(), Instant::now());
        let (reply, answer) = sync_channel(1);
        let entry = Entry::Promoted { node: NodeId(2) };
        desk.wish(entry.clone(), reply.clone(), now);
        desk.applied(&entry, &Ok(Answer::Done), &state);
        assert!(answer.try_recv().is_err(), "somebody else's");
        desk.proposed_wish(&entry);
        assert!(!desk.is_waiting());
        desk.applied(&entry, &Err(Refusal::NoMember { node: NodeId(2) }), &state);
        assert!(matches!(answer.try_recv(), Ok(Err(MemberError::Unsaid(_)))));
        desk.wish(entry.clone(), reply, now);
        desk.send_away(None);
        assert!(matches!(answer.try_recv(), Ok(Err(MemberError::NotLeader { leader: None }))));
    }
}
