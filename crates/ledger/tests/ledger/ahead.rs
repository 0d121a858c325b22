//! Entries that a crash may still take back.

use std::collections::BTreeSet;

use lapwing_ledger::DataGroupState;

use crate::histories::history;
use crate::model::Model;
use crate::picture::Picture;
use crate::random::Random;

/// Wherever a crash takes a history back to: does all that is live there stay live until then, and nothing else for longer?
#[test]
fn what_was_live_at_the_last_commit_is_live_until_the_next() {
    for seed in 0..60 {
        let (mut random, mut model, mut state) = (Random::new(seed), Model::default(), DataGroupState::new());
        let mut committed = BTreeSet::new();
        for (index, operation) in history(seed, 300) {
            state.apply_ahead(index, &operation.encode()).unwrap();
            state.covered(index);
            model.apply(index, &operation);
            assert_eq!(Picture::of(&state), model.picture, "seed {seed}, after {index}");
            let live: BTreeSet<u64> = model.picture.live().into_iter().collect();
            let gone: Vec<_> = committed.union(&live).filter(|entry| !state.is_live(**entry)).collect();
            assert!(gone.is_empty(), "seed {seed}, after {index}: {gone:?} of {committed:?} and {live:?}");
            if random.once_in(8) {
                state.committed();
                (1..=index).for_each(|entry| assert_eq!(state.is_live(entry), live.contains(&entry), "seed {seed}"));
                assert_eq!(state.live_entries(), live.len() as u64, "seed {seed}");
                committed = live;
            }
        }
    }
}
