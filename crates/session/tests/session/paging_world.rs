//! What waits in the log, whatever comes, is read, is acknowledged or breaks.

use lapwing_codec::{Ack, Packet, Version};
use lapwing_session::{DropReason, Fact, Settings};
use proptest::prelude::*;

use crate::paging::{QOS1, deliver_all, numbered, paged, two};
use crate::rig::{Rig, connect_persistent, entry, id, packets};

#[derive(Clone, Debug)]
enum Op {
    /// So many messages come.
    Deliver(u8),
    /// The client acknowledges so many of what it has.
    Acknowledge(u8),
    /// The page that was asked for comes, but for so many at its end.
    Page(u8),
    /// The connection breaks; the client comes back, or stays away for now.
    Break(bool),
    /// The client comes back.
    Back,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1..6_u8).prop_map(Op::Deliver),
        6 => (1..6_u8).prop_map(Op::Acknowledge),
        4 => (0..3_u8).prop_map(Op::Page),
        1 => any::<bool>().prop_map(Op::Break),
        2 => Just(Op::Back),
    ]
}

/// A session, its client, and the log.
struct World {
    rig: Rig,
    /// Messages that came.
    next: u64,
    asked: Option<Vec<u64>>,
    /// In the order in which they were first sent.
    first: Vec<u64>,
    /// Sent on this connection and not acknowledged: packet id and number.
    open: Vec<(u16, u64)>,
    /// Of the connection before: in this order they come again.
    again: Vec<(u16, u64)>,
    told: Vec<u64>,
}

impl World {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Deliver(count) => {
                for _ in 0..*count {
                    self.next += 1;
                    deliver_all(&mut self.rig, [self.next]);
                    self.look();
                }
            }
            Op::Acknowledge(count) => {
                for _ in 0..(*count).min(self.open.len() as u8) {
                    let (packet_id, _) = self.open.remove(0);
                    self.rig.done(Packet::PubAck(Ack::success(id(packet_id))));
                    self.look();
                }
            }
            Op::Page(short) => {
                let Some(mut entries) = self.asked.take() else { return };
                entries.truncate(entries.len().saturating_sub(usize::from(*short)).max(1));
                self.rig.take_page(entries.iter().map(|n| (entry(*n), numbered(*n, QOS1))).collect());
                self.look();
            }
            Op::Break(comes_back) => {
                if self.rig.session().window_max().is_some() {
                    assert!(!self.rig.disconnected().ended);
                    self.open.append(&mut self.again);
                    self.again = std::mem::take(&mut self.open);
                    assert_eq!(self.rig.session().bytes_at_hand(), 0);
                }
                if *comes_back {
                    self.apply(&Op::Back);
                }
            }
            Op::Back => {
                if self.rig.session().window_max().is_none() {
                    self.rig.connect(&connect_persistent(Version::V5));
                    self.look();
                }
            }
        }
    }

    /// What was sent and told.
    fn look(&mut self) {
        let (out, version) = (std::mem::take(&mut self.rig.out), self.rig.version);
        let sent = packets(&out, version, |packet| match packet {
            Packet::Publish(publish) => {
                let n = u64::from_be_bytes(publish.payload.try_into().expect("a number"));
                Some((publish.packet_id.expect("QoS 1").get(), n, publish.dup))
            }
            _ => None,
        });
        for (packet_id, n, dup) in sent.into_iter().flatten() {
            match dup {
                true => assert_eq!((packet_id, n), self.again.remove(0), "again in the order of the first time"),
                false => {
                    assert!(self.again.is_empty(), "nothing new before what was under way");
                    self.first.push(n);
                }
            }
            self.open.push((packet_id, n));
        }
        let told = self.rig.facts();
        self.told.extend(told.iter().map(|fact| match fact {
            Fact::Finished { entry } => entry.get(),
            other => panic!("{other:?}"),
        }));
        if self.rig.session().wants_page() {
            assert!(self.asked.is_none(), "one page at a time");
            self.asked = Some(self.rig.session().ask_page(two()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes, is read, is acknowledged or breaks: each message is sent in order, or gave way and was counted.
    #[test]
    fn every_message_comes_once_in_order(ops in proptest::collection::vec(op(), 0..80), bound in 4..40_u32) {
        let settings =
            Settings { queue_messages_max: bound, inflight_messages_max: 3, ..Settings::default() };
        let (asked, first, open, again, told) = (None, vec![], vec![], vec![], vec![]);
        let mut world = World { rig: paged(settings), next: 0, asked, first, open, again, told };
        ops.iter().for_each(|op| world.apply(op));
        world.apply(&Op::Back);
        while world.asked.is_some() || !world.open.is_empty() {
            world.apply(&Op::Page(0));
            world.apply(&Op::Acknowledge(9));
        }
        prop_assert!(world.first.is_sorted_by(|a, b| a < b), "{:?}", world.first);
        let dropped = world.rig.counters.dropped(DropReason::QueueFull);
        prop_assert_eq!(world.first.len() as u64 + dropped, world.next);
        // Told once each: what was acknowledged, and what gave way.
        world.told.sort_unstable();
        prop_assert_eq!(world.told, (1..=world.next).collect::<Vec<_>>());
        prop_assert_eq!((world.rig.session().queued_messages(), world.rig.session().bytes_at_hand()), (0, 0));
    }
}
