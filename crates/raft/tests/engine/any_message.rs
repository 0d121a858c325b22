//! Any message at all, at any moment: a change or a refusal, never a panic, never a loop.

use lapwing_raft::{
    BatchHeader, Change, Entry, EntryKind, Membership, Message, MessageKind, Position, Snapshot, Standing,
};
use proptest::prelude::*;

use crate::trio::{Trio, batch};

const KINDS: [MessageKind; 10] = [
    MessageKind::Append,
    MessageKind::Appended,
    MessageKind::Heartbeat,
    MessageKind::HeartbeatAnswer,
    MessageKind::AskVote,
    MessageKind::Vote,
    MessageKind::AskPreVote,
    MessageKind::PreVote,
    MessageKind::Snapshot,
    MessageKind::Lead,
];

/// Numbers near what a small group has, and the ends of what there is.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..8_u64, 1 => Just(u64::MAX), 1 => (1_u64 << 55)..(1 << 57), 1 => any::<u64>()]
}

fn node() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 1..=3_u64, 1 => 0..10_u64]
}

fn kind() -> impl Strategy<Value = EntryKind> {
    let standing = prop_oneof![Just(Standing::Voter), Just(Standing::Learner), Just(Standing::Gone)];
    let change = (node(), standing).prop_map(|(node, standing)| Change { node, standing });
    let batch = (number(), 0..3_u32, any::<u32>())
        .prop_map(|(first_sequence, count, bytes)| EntryKind::Batch(BatchHeader { first_sequence, count, bytes }));
    prop_oneof![Just(EntryKind::Blank), batch, proptest::collection::vec(change, 0..4).prop_map(EntryKind::Membership),]
}

/// Entries that mostly follow each other behind an index: else none would be let in.
fn entries(index: u64, term: u64) -> impl Strategy<Value = Vec<Entry>> {
    proptest::collection::vec((kind(), 0..2_u64, prop::bool::weighted(0.03)), 0..4).prop_map(move |kinds| {
        let mut term = term.max(1);
        let entry = |(place, (kind, later, is_wrong)): (usize, (EntryKind, u64, bool))| {
            term = term.saturating_add(later);
            let index = index.wrapping_add(place as u64 + 1 + u64::from(is_wrong));
            Entry { index, term, kind }
        };
        kinds.into_iter().enumerate().map(entry).collect()
    })
}

fn membership() -> impl Strategy<Value = Option<Membership>> {
    let list = || proptest::collection::vec(node(), 0..4);
    let wild = (list(), list(), list(), list()).prop_map(|(voters, learners, outgoing, demoted)| Membership {
        voters,
        learners,
        outgoing,
        demoted,
    });
    prop_oneof![Just(None), Just(Some(Membership::of(&[1, 2, 3]))), wild.prop_map(Some)]
}

fn message() -> impl Strategy<Value = Message> {
    let numbers = (number(), number(), number(), number(), number(), number());
    let flags = (any::<bool>(), any::<bool>(), proptest::option::of(number()));
    (prop::sample::select(KINDS.to_vec()), node(), node(), numbers, flags, membership()).prop_flat_map(
        |(kind, from, to, (term, index, index_term, commit, commit_term, hint), flags, membership)| {
            let (is_refusal, is_transfer, read) = flags;
            let membership = membership.filter(|_| kind == MessageKind::Snapshot).map(Box::new);
            entries(index, index_term).prop_map(move |entries| Message {
                kind,
                from,
                to,
                term,
                index,
                index_term,
                commit,
                commit_term,
                hint,
                is_refusal,
                is_transfer,
                read,
                entries: if kind == MessageKind::Append { entries } else { Vec::new() },
                membership: membership.clone(),
            })
        },
    )
}

/// What else happens to an engine between two messages.
#[derive(Clone, Debug)]
enum Deed {
    Hear(Message),
    Tick,
    Turn,
    Sync,
    Propose,
    Campaign,
    Transfer(u64),
    Read(u64),
    Change(Vec<Change>),
    Install(u64, u64, Option<Membership>),
    Compact(u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    let change = node().prop_map(|node| Change { node, standing: Standing::Gone });
    prop_oneof![
        12 => message().prop_map(Deed::Hear),
        4 => Just(Deed::Tick),
        6 => Just(Deed::Turn),
        5 => Just(Deed::Sync),
        2 => Just(Deed::Propose),
        2 => Just(Deed::Campaign),
        1 => node().prop_map(Deed::Transfer),
        1 => number().prop_map(Deed::Read),
        1 => proptest::collection::vec(change, 0..3).prop_map(Deed::Change),
        1 => (number(), number(), membership()).prop_map(|(index, term, members)| Deed::Install(index, term, members)),
        1 => number().prop_map(Deed::Compact),
    ]
}

/// What it says to that does not matter here.
fn apply(trio: &mut Trio, deed: Deed) {
    let engine = trio.node(1);
    let _ = match deed {
        Deed::Hear(message) => engine.step(message).is_ok(),
        Deed::Tick => (0..5).all(|_| engine.tick().is_ok()),
        Deed::Turn => trio.turn(1).0.must_sync,
        Deed::Sync => trio.sync(1).is_empty(),
        Deed::Propose => engine.propose(batch(1)).is_ok(),
        Deed::Campaign => engine.campaign().is_ok(),
        Deed::Transfer(node) => engine.transfer_to(node).is_ok(),
        Deed::Read(token) => engine.read_index(token).is_ok(),
        Deed::Change(changes) => engine.propose_membership(&changes).is_ok(),
        Deed::Install(index, term, membership) => {
            let membership = membership.unwrap_or_default();
            engine.install(&Snapshot { at: Position { index, term }, membership }).is_ok()
        }
        Deed::Compact(through) => engine.compact(through).is_ok(),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// One node of three hears anything, as follower and as leader, with a disk that lags: does it never panic, and
    /// does what it calls committed never go back?
    #[test]
    fn nothing_that_is_said_ends_it(leads in any::<bool>(), deeds in proptest::collection::vec(deed(), 1..60)) {
        let mut trio = if leads { Trio::led() } else { Trio::new() };
        trio.stuck = vec![1];
        let mut commit = 0;
        for deed in deeds {
            apply(&mut trio, deed);
            let status = trio.node(1).status();
            prop_assert!(status.commit >= commit && status.commit <= status.last);
            commit = status.commit;
        }
    }

    /// A single voter, whose every campaign is won at once.
    #[test]
    fn nothing_ends_one_that_is_alone(deeds in proptest::collection::vec(deed(), 1..60)) {
        let mut alone = Trio::of(&[lapwing_raft::LogTail::founded(&[1])]);
        alone.stuck = vec![1];
        deeds.into_iter().for_each(|deed| apply(&mut alone, deed));
    }
}
