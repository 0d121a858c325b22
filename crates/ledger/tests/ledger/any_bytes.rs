//! Bytes from outside: any of them give an entry, a state or a fault.

use lapwing_ledger::{DataGroupState, Entry, Restorer};
use lapwing_oracle::allocations::{Counting, assert_installed};
use lapwing_oracle::variants::check_near;
use proptest::prelude::*;

use crate::histories::history;
use crate::oracle::{check_entries, check_snapshot, entries_seeds, snapshot_seeds};
use crate::picture::Picture;
use crate::random::Random;
use crate::snapshots::{restore, snapshot};

/// What was read can be written, reads back as the same, and can be applied.
fn check_entry(bytes: &[u8]) {
    let Ok(entry) = Entry::decode(bytes) else { return };
    let mut again = vec![];
    entry.encode(&mut again).unwrap();
    assert_eq!(Entry::decode(&again), Ok(entry));
    let mut state = DataGroupState::new();
    for index in [1, 1000] {
        state.apply(index, bytes).unwrap();
        Picture::of(&state);
        assert!(restore(&snapshot(&state)).is_ok());
    }
}

proptest! {
    #[test]
    fn any_bytes_give_an_entry_or_a_fault(kind in 1_u8..=11, rest in prop::collection::vec(any::<u8>(), 0..60)) {
        check_entry(&[&[kind, 1], &*rest].concat());
    }

    #[test]
    fn small_numbers_give_an_entry_or_a_fault(kind in 1_u8..=11, rest in prop::collection::vec(0_u8..5, 0..40)) {
        check_entry(&[&[kind, 1], &*rest].concat());
    }

    #[test]
    fn any_records_give_a_snapshot_or_a_fault(rest in prop::collection::vec(0_u8..12, 0..40)) {
        let mut restorer = Restorer::new();
        if restorer.chunk(&[&[1, 0, 1, 100, 0], &*rest].concat()).is_ok() {
            _ = restorer.finish().map(|state| Picture::of(&state));
        }
    }
}

/// Changes one to three bytes, or cuts.
fn spoil(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = if random.once_in(2) { bytes[at] ^ (1 << random.below(8)) } else { random.below(256) as u8 };
    }
    if random.once_in(4) {
        bytes.truncate(1 + random.below(bytes.len() as u64) as usize);
    }
}

/// Does a spoiled entry of a real history harm nobody, and an entry that is refused change nothing?
#[test]
fn spoiled_entries_change_the_state_or_nothing() {
    for seed in 0..100 {
        let (mut random, mut state) = (Random::new(seed), DataGroupState::new());
        for (index, operation) in history(seed, 100) {
            let mut bytes = operation.encode();
            if random.once_in(2) {
                spoil(&mut bytes, &mut random);
                check_entry(&bytes);
            }
            let before = Picture::of(&state);
            if state.apply(index, &bytes).is_err() {
                assert_eq!(Picture::of(&state), before, "seed {seed}, {index}");
            }
        }
    }
}

/// Does a spoiled snapshot give a state or a fault, and one that is cut a fault?
#[test]
fn spoiled_snapshots_give_a_state_or_a_fault() {
    for seed in 0..20 {
        let mut state = DataGroupState::new();
        history(seed, 150).iter().for_each(|(index, operation)| state.apply(*index, &operation.encode()).unwrap());
        let (chunks, mut random) = (snapshot(&state), Random::new(seed));
        let whole = &chunks[0];
        assert_eq!(chunks.len(), 1);
        (0..whole.len()).for_each(|cut| assert!(restore(&[whole[..cut].to_vec()]).is_err(), "seed {seed}, {cut}"));
        for _ in 0..300 {
            let mut spoiled = whole.clone();
            spoil(&mut spoiled, &mut random);
            if let Ok(restored) = restore(&[spoiled]) {
                Picture::of(&restored);
            }
        }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The fuzz targets' oracles on a stable compiler.
#[test]
fn any_entries_and_any_snapshot() {
    assert_installed();
    let (mut applied, mut restored) = (0, 0);
    check_near("entries", &entries_seeds(), 400, |input| applied += check_entries(input));
    check_near("snapshot", &snapshot_seeds(), 1_000, |input| restored += usize::from(check_snapshot(input)));
    assert!(applied > 1_000 && restored > 50, "{applied} applied, {restored} restored");
}
