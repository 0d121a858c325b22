//! Takeover, kick, late PUBACK and the reuse of a packet id: every order of eight events, whether or not it can come up.

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Parameters, Stamps, Strategy};
use lapwing_groups::{Action, AssignmentId, Epoch, Facts, Group, MemberOptions, Settings, Written};

const FIRST: u32 = 1;
const SECOND: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// The PUBACK or PUBCOMP of the message on the first connection.
    Acknowledged,
    /// The same again.
    AcknowledgedAgain,
    /// On the first connection, for whatever the member was sent on a later one under the same packet id.
    PacketIdReused,
    /// The first connection is over.
    Lost,
    /// The second one is there.
    Back,
    /// Time passes until the member has stalled.
    Stall,
    /// The other member acknowledges what it has.
    OtherAcknowledges,
    /// The session ends.
    End,
}

const EVENTS: [Event; 8] = [
    Event::Acknowledged,
    Event::AcknowledgedAgain,
    Event::PacketIdReused,
    Event::Lost,
    Event::Back,
    Event::Stall,
    Event::OtherAcknowledges,
    Event::End,
];

/// One message, and who has it as far as actions and words tell.
struct Case {
    group: Group<u32, ()>,
    qos: QoS,
    is_written: bool,
    holder: Option<(u32, Epoch, AssignmentId)>,
    first_id: AssignmentId,
    /// QoS 2 was told to have been written, or may have been.
    is_fixed: bool,
    now_us: u64,
    acknowledged: u64,
    kicks: usize,
}

impl Case {
    /// `others`: whether anybody else is there; if not, the first member gets what comes back.
    fn new(qos: QoS, is_written: bool, others: bool) -> Case {
        let mut group = Group::new(Settings::default(), Strategy::RoundRobin, Parameters::default(), 1);
        for member in [FIRST, SECOND].into_iter().filter(|&member| member == FIRST || others) {
            let declaration = Declaration::processed(u64::from(member), 10);
            group.join(member, Epoch(1), MemberOptions { declaration, qos_max: QoS::ExactlyOnce }, 0);
        }
        group.publish((), Facts::new(qos, 1, 0), 0);
        let (holder, first_id) = (None, AssignmentId(0));
        let mut case =
            Case { group, qos, is_written, holder, first_id, is_fixed: false, now_us: 0, acknowledged: 0, kicks: 0 };
        case.collect();
        let (member, _, id) = case.holder.expect("it was sent");
        assert_eq!(member, FIRST);
        case.first_id = id;
        case
    }

    fn apply(&mut self, event: Event) {
        let now_us = self.now_us;
        let written = if self.is_written { vec![self.first_id] } else { vec![] };
        match event {
            Event::Acknowledged | Event::AcknowledgedAgain => self.acknowledge(FIRST, Epoch(1), self.first_id),
            Event::PacketIdReused => {
                if let Some((FIRST, Epoch(2), id)) = self.holder.filter(|&(.., id)| id != self.first_id) {
                    assert!(!self.group.acknowledged(
                        FIRST,
                        Epoch(1),
                        id,
                        Stamps { written_us: 0, read_us: 0 },
                        now_us
                    ));
                }
            }
            Event::Lost => {
                self.let_go(Epoch(1), self.is_written);
                self.group.lost(FIRST, Epoch(1), Written::These(&written), now_us);
            }
            Event::Back => {
                self.let_go(Epoch(1), true);
                self.group.back(FIRST, Epoch(2), Declaration::processed(1, 10), now_us);
            }
            Event::Stall => {
                self.now_us += 60_000_000;
                self.group.tick(self.now_us);
                self.group.tick(self.now_us);
            }
            Event::OtherAcknowledges => {
                if let Some((SECOND, epoch, id)) = self.holder {
                    self.acknowledge(SECOND, epoch, id);
                }
            }
            Event::End => {
                self.let_go(Epoch(2), self.is_written);
                if matches!(self.holder, Some((FIRST, ..))) {
                    self.holder = None;
                }
                self.group.end(FIRST, Epoch(2), Written::These(&written), now_us);
            }
        }
        self.collect();
        self.check();
    }

    /// The connection of the first member is over: QoS 2 that was written stays.
    fn let_go(&mut self, through: Epoch, may_be_written: bool) {
        let Some((FIRST, epoch, _)) = self.holder else { return };
        if epoch <= through {
            self.is_fixed |= may_be_written && self.qos == QoS::ExactlyOnce;
            if !self.is_fixed {
                self.holder = None;
            }
        }
    }

    fn acknowledge(&mut self, member: u32, epoch: Epoch, id: AssignmentId) {
        let stamps = Stamps { written_us: self.now_us, read_us: self.now_us };
        let had_it = self.group.acknowledged(member, epoch, id, stamps, self.now_us);
        let has_it = self.holder.is_some_and(|(holder, _, held)| (holder, held) == (member, id));
        assert_eq!(had_it, has_it, "{member} {epoch:?} {id:?}");
        if had_it {
            self.holder = None;
            self.acknowledged += 1;
        }
    }

    fn collect(&mut self) {
        let actions: Vec<_> = self.group.take_actions().collect();
        for action in actions {
            match action {
                Action::Send(delivery) => {
                    assert_eq!(self.holder, None, "two have it");
                    assert_eq!(self.acknowledged, 0, "it is done");
                    assert!(!self.is_fixed, "QoS 2 was written and went elsewhere");
                    let id = delivery.assignment.expect("QoS 1 or 2");
                    self.holder = Some((delivery.to, delivery.epoch, id));
                }
                Action::Kick { .. } => self.kicks += 1,
                Action::DeadLetter { .. } | Action::Missed { .. } | Action::Notice(_) => {}
            }
        }
    }

    fn check(&self) {
        let counters = self.group.counters();
        assert_eq!(counters.acknowledged, self.acknowledged);
        assert!(self.acknowledged <= 1);
        let view = self.group.view(self.now_us);
        assert_eq!(counters.ended() + (view.critical + view.bulk + view.assigned) as u64, 1);
        let by_member: usize = self.group.member_views(self.now_us).map(|member| member.assigned).sum();
        assert_eq!(by_member, usize::from(self.holder.is_some()));
    }
}

/// Calls `work` with every order of `items` (Heap's algorithm).
fn every_order(items: &mut [Event], count: usize, work: &mut impl FnMut(&[Event])) {
    if count <= 1 {
        return work(items);
    }
    for at in 0..count {
        every_order(items, count - 1, work);
        items.swap(if count.is_multiple_of(2) { at } else { 0 }, count - 1);
    }
}

fn try_every_order(qos: QoS, is_written: bool, others: bool) {
    let mut orders = 0;
    every_order(&mut EVENTS.clone(), EVENTS.len(), &mut |order| {
        orders += 1;
        let mut case = Case::new(qos, is_written, others);
        order.iter().for_each(|&event| case.apply(event));
        assert!(case.kicks <= 2, "one for each connection at most: {order:?}");
    });
    assert_eq!(orders, 40_320);
}

#[test]
fn whatever_comes_first_the_message_has_one_owner_and_one_end() {
    for (qos, is_written) in [(QoS::AtLeastOnce, true), (QoS::ExactlyOnce, false), (QoS::ExactlyOnce, true)] {
        try_every_order(qos, is_written, true);
        try_every_order(qos, is_written, false);
    }
}
