//! What the log may give back.

use std::collections::BTreeSet;

use lapwing_ledger::DataGroupState;

use crate::histories::history;
use crate::model::Model;
use crate::picture::Picture;

/// After every entry of a history, when a snapshot covers all of it: is what the state refers to live, and nothing else?
#[test]
fn what_is_referred_to_is_live() {
    for seed in 0..60 {
        let (mut model, mut state) = (Model::default(), DataGroupState::new());
        for (index, operation) in history(seed, 300) {
            state.apply(index, &operation.encode()).unwrap();
            state.covered(index);
            model.apply(index, &operation);
            assert_eq!(Picture::of(&state), model.picture, "seed {seed}, after {index}");
            let live: BTreeSet<u64> = model.picture.live().into_iter().collect();
            (1..=index).for_each(|entry| assert_eq!(state.is_live(entry), live.contains(&entry), "seed {seed}"));
            assert_eq!(state.live_entries(), live.len() as u64, "seed {seed}");
        }
    }
}
