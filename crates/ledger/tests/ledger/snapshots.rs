//! A snapshot at any point and the rest of the log are as good as the whole log.

use std::convert::Infallible;

use lapwing_ledger::{DataGroupState, Fault, FrozenState, Restorer};

use crate::histories::{check_repeats, history};
use crate::model::Model;
use crate::operation::{Operation, OwnOptions};
use crate::picture::Picture;
use crate::random::Random;

pub fn snapshot(state: &DataGroupState) -> Vec<Vec<u8>> {
    let mut chunks = vec![];
    let Ok(()) = state.snapshot(&mut |chunk: &[u8]| {
        chunks.push(chunk.to_vec());
        Ok::<(), Infallible>(())
    });
    chunks
}

fn written(frozen: FrozenState) -> Vec<Vec<u8>> {
    let mut chunks = vec![];
    let Ok(()) = frozen.write(&mut |chunk: &[u8]| {
        chunks.push(chunk.to_vec());
        Ok::<(), Infallible>(())
    });
    chunks
}

pub fn restore(chunks: &[Vec<u8>]) -> Result<DataGroupState, Fault> {
    let mut restorer = Restorer::new();
    chunks.iter().try_for_each(|chunk| restorer.chunk(chunk))?;
    restorer.finish()
}

/// Does a restored state go on as if nothing had been, and write the same snapshot?
#[test]
fn a_snapshot_and_the_rest_are_the_whole() {
    for seed in 0..60 {
        let (mut random, mut model, mut state) = (Random::new(seed), Model::default(), DataGroupState::new());
        let mut restored: Option<DataGroupState> = None;
        for (index, operation) in history(seed, 200) {
            let entry = operation.encode();
            model.apply(index, &operation);
            state.apply(index, &entry).unwrap();
            if let Some(restored) = &mut restored {
                restored.apply(index, &entry).unwrap();
                assert_eq!(Picture::of(restored), model.picture, "seed {seed}, after {index}");
                assert_eq!((restored.live_entries(), restored.strays()), (state.live_entries(), state.strays()));
            }
            if random.once_in(20) {
                let chunks = snapshot(restored.as_ref().unwrap_or(&state));
                assert_eq!(chunks, snapshot(&state), "seed {seed}, after {index}");
                restored = Some(restore(&chunks).unwrap());
            }
        }
        check_repeats(restored.as_ref().unwrap_or(&state), &model);
    }
}

/// Does a frozen state stay as it was, whatever is applied before it is written, and does that change nothing for the state?
#[test]
fn a_frozen_state_stays_as_it_was() {
    for seed in 0..60 {
        let (mut random, mut model, mut state) = (Random::new(seed), Model::default(), DataGroupState::new());
        let mut frozen: Vec<(FrozenState, Vec<Vec<u8>>)> = vec![];
        for (index, operation) in history(seed, 200) {
            model.apply(index, &operation);
            state.apply(index, &operation.encode()).unwrap();
            assert_eq!(Picture::of(&state), model.picture, "seed {seed}, after {index}");
            if random.once_in(20) {
                frozen.push((state.freeze(), snapshot(&state)));
            }
        }
        for (frozen, chunks) in frozen {
            assert_eq!(written(frozen), chunks, "seed {seed}");
        }
    }
}

/// Does what a snapshot refers to, and all behind it, stay, and may the rest go?
#[test]
fn entries_behind_a_snapshot_are_live() {
    let mut state = DataGroupState::new();
    let mut index = 0;
    for (at, operation) in history(5, 200) {
        index = at;
        state.apply(index, &operation.encode()).unwrap();
    }
    assert!((1..=index + 5).all(|entry| state.is_live(entry)), "without a snapshot everything is");
    let restored = restore(&snapshot(&state)).unwrap();
    let live = Picture::of(&state).live();
    (1..=index).for_each(|entry| assert_eq!(restored.is_live(entry), live.contains(&entry)));
    assert!(restored.is_live(index + 1));
    state.covered(index + 100);
    assert!(state.is_live(index + 1), "nothing is covered that was not applied");
}

/// Are large states written in chunks of bounded size, and does each missing or doubled one show?
#[test]
fn chunks_are_bounded_and_all_needed() {
    let state = large_state();
    let chunks = snapshot(&state);
    assert!(chunks.len() > 3 && chunks.iter().all(|chunk| chunk.len() < 80 << 10), "{}", chunks.len());
    let restored = restore(&chunks).unwrap();
    assert_eq!(Picture::of(&restored), Picture::of(&state));
    assert_eq!(snapshot(&restored), chunks);
    for at in 0..chunks.len() {
        let (mut missing, mut doubled) = (chunks.clone(), chunks.clone());
        missing.remove(at);
        doubled.insert(at, chunks[at].clone());
        assert!(restore(&missing).is_err() && restore(&doubled).is_err(), "chunk {at}");
    }
    assert!(restore(&[]).is_err());
    let mut newer = chunks;
    newer[0][0] = 3;
    assert!(matches!(restore(&newer), Err(Fault::Version { found: 3, supported: 2, .. })));
}

fn large_state() -> DataGroupState {
    let (mut state, mut index) = (DataGroupState::new(), 0);
    let mut apply = |operation: Operation| {
        index += 1;
        state.apply(index, &operation.encode()).unwrap();
        index
    };
    let mut ids = vec![];
    for n in 0..500 {
        let (client_id, identity) = (format!("device-{n:06}"), vec![0; 100]);
        ids.push(apply(Operation::Open { client_id, identity, expiry_s: 60, opened_at_ms: 1, will: None }));
    }
    for n in 0..5000_u64 {
        let options = OwnOptions { qos: 1, retain: n % 7 == 0, ids: vec![n as u32 % 3] };
        let keepers = (0..20).map(|k| (ids[((n * 31 + k * 17) % 500) as usize], options.clone())).collect();
        let retained = (n % 10 == 0).then(|| format!("topic/{n}"));
        apply(Operation::Publish { frame: vec![], keepers, groups: vec![], retained, origin: None });
    }
    state
}

/// Is a queue of ten thousand taken down in shares when its session ends, and a new one of the client not touched by that?
#[test]
fn a_long_queue_is_taken_down_in_shares() {
    let mut state = DataGroupState::new();
    let open = Operation::Open { client_id: "c".into(), identity: vec![], expiry_s: 9, opened_at_ms: 1, will: None };
    state.apply(1, &open.encode()).unwrap();
    let options = OwnOptions { qos: 1, retain: false, ids: vec![] };
    let publish = |id| {
        let keepers = vec![(id, options.clone())];
        Operation::Publish { frame: vec![], keepers, groups: vec![], retained: None, origin: None }.encode()
    };
    (2..=10_001).for_each(|index| state.apply(index, &publish(1)).unwrap());
    state.apply(10_002, &open.encode()).unwrap();
    assert_eq!((state.queued(), state.sessions().count()), (0, 1));
    assert!(state.live_entries() > 9_000, "not at once");
    let restored = restore(&snapshot(&state)).unwrap();
    assert_eq!(restored.live_entries(), 0);
    (10_003..10_103).for_each(|index| state.apply(index, &publish(10_002)).unwrap());
    assert_eq!((state.queued(), state.live_entries()), (100, 100));
}
