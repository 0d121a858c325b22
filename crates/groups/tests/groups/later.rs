//! A group whose strategy answers later: batches, order, fallback, and that it wakes in time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use lapwing_dispatch::{Answer, Deferred, Desk, Question, Strategy, Verdict};
use lapwing_groups::{Epoch, Expired, Facts, Settings};

use crate::rig::{MS, QOS_1, Rig, S};

#[derive(Clone, Default)]
struct Table(Arc<Mutex<(Vec<Question>, VecDeque<Answer>)>>);

impl Desk for Table {
    fn ask(&mut self, question: Question) -> bool {
        self.0.lock().unwrap().0.push(question);
        true
    }

    fn answer(&mut self) -> Option<Answer> {
        self.0.lock().unwrap().1.pop_front()
    }

    fn has_answers(&self) -> bool {
        !self.0.lock().unwrap().1.is_empty()
    }
}

impl Table {
    /// Answers all that was asked: messages in turn to the members in turn.
    fn answer_all(&self) -> Vec<u64> {
        self.answer_those(|_| true)
    }

    /// The same of some messages.
    fn answer_those(&self, wanted: impl Fn(u64) -> bool) -> Vec<u64> {
        let (all, answers) = &mut *self.0.lock().unwrap();
        let (mut asked, others) = std::mem::take(all).into_iter().partition::<Vec<_>, _>(|one| wanted(one.number));
        *all = others;
        let answer = |question: &Question| {
            let one = question.members[question.number as usize % question.members.len()];
            let verdict = Verdict::To { member: one.member, identity: one.identity };
            Answer { id: question.id, number: question.number, verdict }
        };
        answers.extend(asked.iter().map(answer));
        asked.drain(..).map(|question| question.number).collect()
    }
}

/// Answers at once and anything: somebody, nobody, that it has failed, nothing, or a message that was not asked about.
#[derive(Default)]
pub struct Whim(VecDeque<Answer>);

impl Desk for Whim {
    fn ask(&mut self, Question { id, number, members, .. }: Question) -> bool {
        let one = members[id as usize / 7 % members.len()];
        let verdict = match id % 7 {
            0 | 1 => Verdict::To { member: one.member, identity: one.identity },
            2 => Verdict::To { member: one.member, identity: one.identity + 1 },
            3 => Verdict::Wait,
            4 => Verdict::Failed,
            5 => return true,
            _ => return false,
        };
        self.0.extend([Answer { id, number, verdict }, Answer { id, number: number + 1, verdict }]);
        true
    }

    fn answer(&mut self) -> Option<Answer> {
        self.0.pop_front()
    }

    fn has_answers(&self) -> bool {
        !self.0.is_empty()
    }
}

fn deferred(settings: Settings, members: u32) -> (Rig, Table) {
    let mut rig = Rig::new(Strategy::Auto, settings);
    let table = Table::default();
    (1..=members).for_each(|member| rig.join(member, 50));
    rig.group.set_chooser(Box::new(Deferred::new(table.clone(), Strategy::RoundRobin, 5 * MS)), rig.now_us);
    (rig, table)
}

#[test]
fn messages_are_asked_for_in_batches_and_sent_in_their_order() {
    let (mut rig, table) = deferred(Settings::default(), 2);
    (0..200).for_each(|message| rig.publish(message, QOS_1));
    assert_eq!(rig.take_sent(), []);
    let mut batches = Vec::new();
    while rig.group.queued() > 0 && batches.len() < 10 {
        batches.push(table.answer_all().len());
        assert!(rig.group.has_news());
        rig.now_us += MS;
        rig.group.tick(rig.now_us);
        rig.collect();
        while let Some(sent) = (!rig.sent.is_empty()).then(|| rig.sent.remove(0)) {
            assert_eq!((sent.to, sent.message), (sent.message % 2 + 1, rig.group.counters().acknowledged as u32));
            assert!(rig.acknowledge(sent.to, sent.id.expect("QoS 1")));
        }
    }
    assert_eq!(batches, [65, 65, 65, 5]);
    let counters = rig.group.view(rig.now_us).deferred.expect("it answers later");
    assert_eq!((counters.asked, counters.answered, counters.late), (200, 200, 0));
}

/// A member says that it cannot have a message, and leaves: does the message wait for its answer as others do, and nobody pass it?
#[test]
fn what_somebody_who_left_could_not_have_is_not_passed() {
    let (mut rig, table) = deferred(Settings::default(), 2);
    let look = |rig: &mut Rig| {
        rig.group.tick(rig.now_us);
        rig.collect();
    };
    rig.publish(0, QOS_1);
    table.answer_all();
    look(&mut rig);
    let id = rig.last(1);
    assert_eq!(rig.take_sent(), [(1, 0)]);
    assert!(rig.group.undeliverable(1, Epoch(1), id, rig.now_us));
    rig.lost(1, &[]);
    rig.publish(1, QOS_1);
    table.answer_those(|number| number == 1);
    look(&mut rig);
    assert_eq!(rig.take_sent(), []);
    for _ in 0..2 {
        table.answer_all();
        look(&mut rig);
    }
    assert_eq!(rig.take_sent(), [(2, 0), (2, 1)]);
}

#[test]
fn the_group_wakes_when_no_answer_has_come_and_asks_the_fallback() {
    let (mut rig, table) = deferred(Settings::default(), 2);
    (0..3).for_each(|message| rig.publish(message, QOS_1));
    assert_eq!(rig.group.next_wake_us(rig.now_us), Some(rig.now_us + 5 * MS));
    rig.wait(5 * MS);
    assert_eq!(rig.take_sent().len(), 3, "in turn");
    table.answer_all();
    rig.group.tick(rig.now_us);
    rig.publish(3, QOS_1);
    let counters = rig.group.view(rig.now_us).deferred.expect("it answers later");
    assert_eq!((counters.timed_out, counters.late), (3, 3));
}

/// Does an answer that comes after its message has gone leave the group at rest, with members and without?
#[test]
fn a_late_answer_is_taken_although_nothing_waits() {
    for stays in [true, false] {
        let (mut rig, table) = deferred(Settings::default(), 1);
        rig.publish(1, QOS_1);
        rig.wait(5 * MS);
        let id = rig.last(1);
        assert!(rig.acknowledge(1, id), "the fallback has sent it");
        if !stays {
            rig.lost(1, &[]);
        }
        table.answer_all();
        assert!(rig.group.has_news());
        rig.group.tick(rig.now_us);
        assert!(!rig.group.has_news(), "it would be ticked for ever");
        let counters = rig.group.view(rig.now_us).deferred.expect("it answers later");
        assert_eq!((counters.timed_out, counters.late), (1, 1));
    }
}

/// Does a group sleep while nobody answers and the fallback's window is full?
#[test]
fn questions_that_nobody_answers_do_not_keep_the_group_awake() {
    let (mut rig, table) = deferred(Settings::default(), 1);
    rig.group.set_chooser(Box::new(Deferred::new(table, Strategy::Auto, 5 * MS)), rig.now_us);
    (0..100).for_each(|message| rig.publish(message, QOS_1));
    rig.wait(20 * MS);
    assert!((5..45).contains(&rig.take_sent().len()), "by the fallback, which leaves room");
    let mut wakes = 0;
    let end_us = rig.now_us + S;
    while let Some(at_us) = rig.group.next_wake_us(rig.now_us).filter(|&at_us| at_us <= end_us) {
        rig.now_us = at_us;
        rig.group.tick(at_us);
        wakes += 1;
        assert!(wakes < 10, "it does not sleep");
    }
}

#[test]
fn what_expires_while_it_is_asked_for_makes_room() {
    let (mut rig, table) = deferred(Settings { expired: Expired::Drop, ..Settings::default() }, 0);
    rig.join(1, 1);
    let facts = Facts { deadline_us: Some(MS), ..rig.facts(QOS_1) };
    rig.publish_as(1, facts);
    rig.publish(2, QOS_1);
    assert_eq!(table.answer_all(), [0], "there is room for one");
    rig.wait(2 * MS);
    assert_eq!((table.answer_all(), rig.take_sent()), (vec![1], vec![]));
    rig.wait(MS);
    rig.group.tick(rig.now_us);
    rig.collect();
    assert_eq!(rig.take_sent(), [(1, 2)]);
    rig.group.set_strategy(Strategy::Auto, rig.now_us);
    assert_eq!(rig.group.view(rig.now_us + S).deferred, None);
}
