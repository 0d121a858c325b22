//! A strategy that answers later: what is asked, what comes of each answer, and that the fallback stands behind all of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use lapwing_dispatch::{
    Answer, Declaration, Deferral, Deferred, DeferredCounters, Desk, Leaving, MemberIndex, Members, Parameters, Pick,
    Question, Stamps, Strategy, Verdict, Work,
};

const MS: u64 = 1000;
const TIMEOUT_US: u64 = 5 * MS;

/// Both ends of the desk, in one hand.
#[derive(Clone, Default)]
struct Table(Arc<Mutex<Sides>>);

#[derive(Default)]
struct Sides {
    asked: VecDeque<Question>,
    answers: VecDeque<Answer>,
    is_full: bool,
}

impl Desk for Table {
    fn ask(&mut self, question: Question) -> bool {
        let mut sides = self.0.lock().unwrap();
        if !sides.is_full {
            sides.asked.push_back(question);
        }
        !sides.is_full
    }

    fn answer(&mut self) -> Option<Answer> {
        self.0.lock().unwrap().answers.pop_front()
    }

    fn has_answers(&self) -> bool {
        !self.0.lock().unwrap().answers.is_empty()
    }
}

struct Rig {
    members: Members,
    indices: Vec<MemberIndex>,
    table: Table,
}

impl Rig {
    /// Members of these Receive Maxima; the fallback takes them in turn.
    fn new(receive_max: &[u16]) -> Rig {
        let mut members = Members::new(Strategy::Auto, Parameters::default(), 1);
        let declare = |(at, &most): (usize, &u16)| Declaration::processed(at as u64 + 100, most);
        let indices = receive_max.iter().enumerate().map(|one| members.join(declare(one), 0)).collect();
        let table = Table::default();
        members.set_chooser(Box::new(Deferred::new(table.clone(), Strategy::RoundRobin, TIMEOUT_US)));
        Rig { members, indices, table }
    }

    fn pick(&mut self, number: u64, now_us: u64) -> Pick {
        self.members.pick(&Work { number, ..Work::default() }, 1, now_us)
    }

    /// The numbers of the messages that were asked about since.
    fn asked(&self) -> Vec<u64> {
        self.table.0.lock().unwrap().asked.iter().map(|question| question.number).collect()
    }

    fn answer(&self, choose: impl Fn(&Question) -> Verdict) {
        let sides = &mut *self.table.0.lock().unwrap();
        let answer =
            |question: Question| Answer { id: question.id, number: question.number, verdict: choose(&question) };
        sides.answers.extend(sides.asked.drain(..).map(answer));
    }

    fn deferral(&self) -> Deferral {
        self.members.deferral().unwrap()
    }

    fn counters(&self) -> DeferredCounters {
        self.deferral().counters
    }
}

fn to(at: usize) -> impl Fn(&Question) -> Verdict {
    move |question| Verdict::To { member: question.members[at].member, identity: question.members[at].identity }
}

#[test]
fn a_message_is_asked_for_once_and_goes_where_the_answer_says() {
    let mut rig = Rig::new(&[10, 10]);
    assert_eq!((rig.pick(1, 0), rig.pick(1, MS)), (Pick::Wait, Pick::Wait));
    assert_eq!((rig.asked(), rig.deferral().next_turn_ms), (vec![1], Some(5.0)));
    assert!(!rig.deferral().has_news);
    rig.answer(to(1));
    assert!(rig.deferral().has_news);
    assert_eq!((rig.pick(1, 2 * MS), rig.pick(1, 3 * MS)), (Pick::To(rig.indices[1]), Pick::To(rig.indices[1])));
    rig.members.sent(rig.indices[1], &Work { number: 1, ..Work::default() }, 3 * MS);
    assert_eq!(rig.pick(1, 4 * MS), Pick::Wait, "it has come back: it is asked for anew");
    assert_eq!(rig.counters(), DeferredCounters { asked: 2, answered: 1, ..DeferredCounters::default() });
}

#[test]
fn the_question_shows_the_members_as_they_are() {
    let mut rig = Rig::new(&[10, 1]);
    let ticket = rig.members.sent(rig.indices[0], &Work::default(), 0).unwrap();
    assert!(rig.members.acknowledged(rig.indices[0], ticket, Stamps { written_us: 0, read_us: 40 * MS }));
    rig.members.sent(rig.indices[1], &Work::default(), 40 * MS).unwrap();
    assert_eq!(rig.pick(9, 40 * MS), Pick::Wait);
    let sides = rig.table.0.lock().unwrap();
    let [first, second] = &sides.asked[0].members[..] else { panic!("two members") };
    assert_eq!((first.identity, first.limit, first.inflight, first.can_take), (100, 10, 0, true));
    assert_eq!((second.identity, second.limit, second.inflight, second.can_take), (101, 1, 1, false));
    assert!(first.service_ms + first.rtt_ms > 39.0, "{first:?}");
}

#[test]
fn what_is_late_failed_or_has_no_room_meets_the_fallback() {
    let mut rig = Rig::new(&[10, 10]);
    assert_eq!(rig.pick(1, 0), Pick::Wait);
    assert!(matches!(rig.pick(1, TIMEOUT_US), Pick::To(_)), "its time is over");
    rig.answer(to(1));
    assert_eq!(rig.pick(2, TIMEOUT_US), Pick::Wait);
    assert_eq!((rig.counters().timed_out, rig.counters().late), (1, 1));
    rig.answer(|_| Verdict::Failed);
    assert!(matches!(rig.pick(2, TIMEOUT_US + 1), Pick::To(_)));
    rig.table.0.lock().unwrap().is_full = true;
    assert!(matches!(rig.pick(3, TIMEOUT_US + 1), Pick::To(_)));
    let counters = rig.counters();
    assert_eq!((counters.asked, counters.failed, counters.overflowed), (2, 1, 1));
}

#[test]
fn who_has_gone_or_is_full_is_not_sent_to() {
    let mut rig = Rig::new(&[1, 10]);
    for number in [1, 2] {
        assert_eq!(rig.pick(number, 0), Pick::Wait);
    }
    rig.answer(to(0));
    assert_eq!(rig.pick(1, 0), Pick::To(rig.indices[0]));
    rig.members.sent(rig.indices[0], &Work { number: 1, ..Work::default() }, 0).unwrap();
    assert_eq!(rig.pick(2, 0), Pick::To(rig.indices[1]), "the first is full");
    assert_eq!(rig.pick(3, 0), Pick::Wait);
    rig.answer(to(1));
    rig.members.leave(rig.indices[1], Leaving::Left, 0);
    let other = rig.members.join(Declaration::processed(7, 10), 0);
    assert_eq!(other, rig.indices[1], "the same place");
    assert_eq!(rig.pick(3, 0), Pick::To(other), "by the fallback, not by the answer");
    assert_eq!((rig.counters().unable, rig.members.counters().picks_refused), (2, 0));
}

#[test]
fn nobody_is_an_answer_and_is_asked_again_later() {
    let mut rig = Rig::new(&[10]);
    assert_eq!(rig.pick(1, 0), Pick::Wait);
    rig.answer(|_| Verdict::Wait);
    assert_eq!((rig.pick(1, MS), rig.asked()), (Pick::Wait, vec![]));
    assert_eq!((rig.deferral().next_turn_ms, rig.members.next_turn_us(MS)), (Some(6.0), Some(6 * MS)));
    assert_eq!((rig.pick(1, 6 * MS), rig.asked()), (Pick::Wait, vec![1]));
    assert_eq!((rig.counters().asked, rig.counters().held), (2, 1));
}

#[test]
fn no_more_is_asked_ahead_than_there_is_room_for() {
    let mut rig = Rig::new(&[2, 1]);
    let foresee = |rig: &mut Rig, number| rig.members.foresee(&Work { number, ..Work::default() }, 9, 0);
    assert_eq!(rig.pick(1, 0), Pick::Wait);
    (2..9).for_each(|number| foresee(&mut rig, number));
    assert_eq!(rig.asked(), [1, 2, 3]);
    rig.members.dropped(2);
    (4..9).for_each(|number| foresee(&mut rig, number));
    assert_eq!(rig.asked(), [1, 2, 3, 4], "2 has expired: there is room for 4");
    assert_eq!((rig.pick(0, 0), rig.asked()), (Pick::Wait, vec![1, 2, 3, 4, 0]), "one came back: it is its turn");
    rig.answer(to(0));
    assert_eq!(rig.pick(1, MS), Pick::To(rig.indices[0]));
    assert_eq!(rig.counters().late, 1, "2 has gone");
    let empty = &mut Rig::new(&[]);
    assert_eq!((empty.pick(1, 0), empty.asked()), (Pick::Wait, vec![]));
}

#[test]
fn messages_that_nobody_acknowledges_are_not_asked_for() {
    let mut rig = Rig::new(&[10]);
    let work = Work { number: 1, is_unacknowledged: true, ..Work::default() };
    assert!(matches!(rig.members.pick(&work, 1, 0), Pick::To(_)));
    rig.members.foresee(&work, 1, 0);
    assert_eq!(rig.asked(), []);
}
