//! Random histories: few clients, groups, topics and packet ids, so that they meet often.

use lapwing_ledger::{DataGroupState, Fact, KeeperId, Origin, SettledPublisher};

use crate::model::Model;
use crate::operation::{Operation, OwnOptions, OwnWill};
use crate::picture::Picture;
use crate::random::Random;

const SEEDS: u64 = 150;
const OPERATIONS: usize = 250;

/// Entries with ascending indexes, gaps between some of them.
pub fn history(seed: u64, operations: usize) -> Vec<(u64, Operation)> {
    let (mut random, mut model, mut index) = (Random::new(seed), Model::default(), 0);
    let mut history = vec![];
    for _ in 0..operations {
        index += 1 + if random.once_in(10) { random.below(700) } else { 0 };
        let operation = choose(&mut random, &model.picture);
        model.apply(index, &operation);
        history.push((index, operation));
    }
    history
}

fn choose(random: &mut Random, now: &Picture) -> Operation {
    match random.below(42) {
        0..3 => open(random),
        3..6 => change(random, now),
        6 => Operation::End((0..random.below(3)).map(|_| session(random, now)).collect()),
        7..9 => Operation::Subscribe(session(random, now), (0..random.below(4)).map(|_| filter(random)).collect()),
        9 => Operation::Unsubscribe(session(random, now), (0..random.below(3)).map(|_| filter(random).0).collect()),
        10..24 => publish(random, now),
        24..37 => Operation::Progress((0..random.below(8)).map(|_| fact(random, now)).collect()),
        37 => Operation::Clear((0..random.below(3)).map(|_| topic(random)).collect()),
        38 => Operation::Settle((0..random.below(3)).map(|_| settled(random)).collect()),
        39 => Operation::OpenGroup(format!("g{}", random.below(2)), filter(random).0),
        40 => Operation::DeclareGroup(group(random, now), (random.below(3) > 0).then(|| b"{}".to_vec())),
        _ => Operation::EndGroup((0..random.below(2)).map(|_| group(random, now)).collect()),
    }
}

/// Mostly one that is there.
fn session(random: &mut Random, now: &Picture) -> u64 {
    let ids: Vec<_> = now.sessions.values().map(|session| session.id).collect();
    if random.once_in(12) { random.below(1000) } else { random.pick(&ids).copied().unwrap_or(7) }
}

fn group(random: &mut Random, now: &Picture) -> u64 {
    let ids: Vec<_> = now.groups.values().map(|group| group.id).collect();
    random.pick(&ids).copied().unwrap_or(9)
}

fn topic(random: &mut Random) -> String {
    format!("t/{}", random.below(5))
}

fn filter(random: &mut Random) -> (String, u64) {
    (format!("f/{}/#", random.below(4)), random.below(u64::MAX >> 33))
}

fn will(random: &mut Random) -> Option<OwnWill> {
    (!random.once_in(3)).then(|| OwnWill {
        frame: vec![b'w'; random.below(40) as usize],
        delay_s: random.below(1000) as u32,
        message_expiry_s: random.once_in(2).then_some(60),
    })
}

fn open(random: &mut Random) -> Operation {
    Operation::Open {
        client_id: format!("client-{}", random.below(6)),
        identity: vec![7; random.below(20) as usize],
        expiry_s: random.below(10_000) as u32,
        opened_at_ms: random.below(1 << 41),
        will: will(random),
    }
}

fn change(random: &mut Random, now: &Picture) -> Operation {
    Operation::Change {
        session: session(random, now),
        expiry_s: random.once_in(2).then_some(5),
        identity: random.once_in(3).then(|| vec![1, 2]),
        will: random.once_in(2).then(|| will(random)),
        presence: random.once_in(2).then(|| (random.once_in(2), random.below(1 << 41))),
    }
}

fn publish(random: &mut Random, now: &Picture) -> Operation {
    let mut keepers: Vec<(u64, OwnOptions)> = vec![];
    for _ in 0..random.below(5) {
        let ids = (0..random.below(3)).map(|_| random.below(300) as u32).collect();
        let options = OwnOptions { qos: 1 + random.below(2) as u8, retain: random.once_in(4), ids };
        keepers.push((session(random, now), options));
    }
    let mut groups: Vec<_> = (0..random.below(3)).map(|_| group(random, now)).collect();
    groups.dedup();
    Operation::Publish {
        frame: vec![b'f'; random.below(100) as usize],
        keepers,
        groups,
        retained: random.once_in(5).then(|| topic(random)),
        origin: random.once_in(3).then(|| origin(random)),
    }
}

/// Of few publishers, their uses not quite in order.
fn origin(random: &mut Random) -> Origin {
    let use_number = random.below(30);
    let settled = use_number.saturating_sub(random.below(12));
    let (data_group, session, packet_id) = (random.below(2) as u16, KeeperId(random.below(3)), random.below(9) as u16);
    Origin { data_group, session, packet_id, use_number, settled }
}

fn settled(random: &mut Random) -> SettledPublisher {
    let below = if random.once_in(2) { u64::MAX } else { random.below(30) };
    SettledPublisher { data_group: random.below(2) as u16, session: KeeperId(random.below(3)), below }
}

/// Mostly of a message that the session or group has.
fn fact(random: &mut Random, now: &Picture) -> (u64, Fact) {
    if random.once_in(6)
        && let Some(group) = random.pick(&now.groups.values().collect::<Vec<_>>())
    {
        let entry = random.pick(&group.queue).copied().unwrap_or(1);
        return (group.id, Fact::Finished { entry });
    }
    let sessions: Vec<_> = now.sessions.values().collect();
    let Some(session) = random.pick(&sessions) else { return (3, Fact::PubRecReceived { packet_id: 1 }) };
    let queued: Vec<_> = session.queue.keys().copied().collect();
    let front = queued.first().copied().filter(|_| random.once_in(2));
    let entry = front.or_else(|| random.pick(&queued).copied()).unwrap_or(random.below(400));
    let flying: Vec<_> = session.flights.keys().copied().collect();
    let packet_id = 1 + random.below(5) as u16;
    let fact = match random.below(9) {
        0..3 => Fact::Finished { entry },
        3 => Fact::Finished { entry: random.pick(&flying).copied().unwrap_or(entry) },
        4 => Fact::PublishSent { packet_id, entry },
        5 => Fact::PubRecReceived { packet_id },
        6 => Fact::Received { packet_id, use_number: random.below(100) },
        7 => Fact::Doubted { packet_id, use_number: random.below(100) },
        _ => Fact::Released { packet_id },
    };
    (session.id, fact)
}

/// Is the state what the naive one is, after every entry, and is exactly that live which something refers to?
#[test]
fn every_state_agrees_with_the_naive_one() {
    for seed in 0..SEEDS {
        let (mut state, mut model) = (DataGroupState::new(), Model::default());
        for (index, operation) in history(seed, OPERATIONS) {
            state.apply(index, &operation.encode()).unwrap_or_else(|fault| panic!("seed {seed}, {index}: {fault}"));
            state.covered(index);
            model.apply(index, &operation);
            assert_eq!(Picture::of(&state), model.picture, "seed {seed}, after {index}: {operation:?}");
            let live = model.picture.live();
            assert_eq!(state.live_entries(), live.len() as u64, "seed {seed}, after {index}: {operation:?}");
            assert!(live.iter().all(|entry| state.is_live(*entry)), "seed {seed}, after {index}");
        }
        let live = model.picture.live();
        (1..=model.picture.applied).for_each(|entry| assert_eq!(state.is_live(entry), live.contains(&entry)));
        check_repeats(&state, &model);
    }
}

/// Is known what has been there and what is settled, and nothing else?
pub fn check_repeats(state: &DataGroupState, model: &Model) {
    for (data_group, id, use_number) in (0..2).flat_map(|g| (0..3).flat_map(move |id| (0..30).map(move |n| (g, id, n))))
    {
        let origin = Origin { data_group, session: KeeperId(id), packet_id: 0, use_number, settled: 0 };
        let is_settled = model.settled.get(&(data_group, id)).is_some_and(|settled| use_number < *settled);
        let was_here = model.picture.unsettled.contains_key(&(data_group, id, use_number));
        assert_eq!(state.is_repeat(&origin), is_settled || was_here, "{origin:?}");
    }
}

/// Is there no order of entries, and no gap, that `apply` refuses?
#[test]
fn any_entries_in_any_order_can_be_applied() {
    for seed in 0..SEEDS {
        let (mut random, mut entries) = (Random::new(seed), history(seed, OPERATIONS));
        for at in (1..entries.len()).rev() {
            entries.swap(at, random.below(at as u64 + 1) as usize);
        }
        let mut state = DataGroupState::new();
        let some: Vec<_> = entries.iter().filter(|_| !random.once_in(3)).collect();
        for (at, (_, operation)) in some.into_iter().enumerate() {
            assert_eq!(state.apply(at as u64 * 3 + 1, &operation.encode()), Ok(()), "seed {seed}");
        }
        let picture = Picture::of(&state);
        assert_eq!(state.live_entries(), picture.live().len() as u64, "seed {seed}");
    }
}
