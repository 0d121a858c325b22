//! What must hold for any bytes of entries and snapshots; the fuzz targets `entries` and `snapshot` ask it too.

use lapwing_ledger::{DataGroupState, Entry, Fault};
use lapwing_oracle::allocations;

use crate::histories::history;
use crate::picture::Picture;
use crate::snapshots::{restore, snapshot};

/// Bytes of memory for one of an input, several times what a reference or a subscription takes; and what a state takes.
const BYTES_PER_BYTE: usize = 500;
const STATE_BYTES: usize = 256 << 10;

/// Reads `input` as entries, each behind two bytes: its length, and how far its index lies behind the one before.
///
/// Returns how many were applied.
pub fn check_entries(input: &[u8]) -> usize {
    let (mut state, mut index, mut applied) = (DataGroupState::new(), 0, 0);
    let mut rest = input;
    while let [length, step, behind @ ..] = rest {
        let (entry, next) = behind.split_at(behind.len().min(usize::from(*length)));
        index += 1 + u64::from(*step) * u64::from(*step);
        rest = next;
        applied += usize::from(apply(&mut state, index, entry));
        state.covered(index);
    }
    check_state(&state);
    applied
}

/// An entry is read, written and read as the same, and applied; or it is refused, and nothing has changed.
fn apply(state: &mut DataGroupState, index: u64, bytes: &[u8]) -> bool {
    let before = state.applied();
    let (done, used) = allocations::count(|| state.apply(index, bytes));
    assert!(used.peak_bytes <= STATE_BYTES + BYTES_PER_BYTE * bytes.len(), "{} bytes for one entry", used.peak_bytes);
    let decoded = Entry::decode(bytes);
    assert_eq!(decoded.is_ok(), done.is_ok(), "{decoded:?}, applied: {done:?}");
    let Ok(entry) = decoded else {
        assert_eq!(state.applied(), before, "a refused entry changes nothing");
        return false;
    };
    let mut again = vec![];
    entry.encode(&mut again).expect("what was read can be written");
    assert_eq!(Entry::decode(&again), Ok(entry), "what was written comes back equal");
    true
}

/// The state is whole, and its snapshot is as good.
fn check_state(state: &DataGroupState) {
    let picture = Picture::of(state);
    let live = picture.live();
    assert_eq!(state.live_entries(), live.len() as u64, "that is live which something refers to");
    assert!(live.iter().all(|entry| state.is_live(*entry)));
    let chunks = snapshot(state);
    let restored = restore(&chunks).expect("a snapshot is restored");
    assert_eq!(Picture::of(&restored), picture);
    assert_eq!(snapshot(&restored), chunks, "one state has one snapshot");
}

/// Reads `input` as two bytes that say where a chunk ends (0: nowhere), and the chunks of a snapshot.
///
/// Returns whether it is one.
pub fn check_snapshot(input: &[u8]) -> bool {
    let [high, low, bytes @ ..] = input else { return false };
    let at = (usize::from(*high) << 8 | usize::from(*low)).min(bytes.len());
    let chunks: Vec<_> =
        [&bytes[..at], &bytes[at..]].into_iter().filter(|chunk| !chunk.is_empty()).map(<[u8]>::to_vec).collect();
    let (restored, used): (Result<DataGroupState, Fault>, _) = allocations::count(|| restore(&chunks));
    assert!(used.peak_bytes <= STATE_BYTES + BYTES_PER_BYTE * bytes.len(), "{} bytes for a snapshot", used.peak_bytes);
    let Ok(mut state) = restored else { return false };
    check_state(&state);
    let next = state.applied() + 1;
    state.apply(next, &[8, 1, 0]).expect("it goes on: nothing is cleared");
    true
}

/// Parts of random histories, in which everything happens.
pub fn entries_seeds() -> Vec<Vec<u8>> {
    (0..24).map(|seed| framed(seed, 40)).collect()
}

fn framed(seed: u64, operations: usize) -> Vec<u8> {
    let (mut bytes, mut last) = (vec![], 0);
    for (index, operation) in history(seed, operations) {
        let entry = operation.encode();
        if let Ok(length) = u8::try_from(entry.len()) {
            bytes.extend([length, (index - last - 1).isqrt() as u8]);
            bytes.extend(entry);
            last = index;
        }
    }
    bytes
}

/// Of such histories, in one chunk.
pub fn snapshot_seeds() -> Vec<Vec<u8>> {
    let state = |seed| {
        let mut state = DataGroupState::new();
        history(seed, 30).iter().for_each(|(index, operation)| {
            state.apply(*index, &operation.encode()).expect("an entry");
        });
        state
    };
    (0..24).map(|seed| [&[0, 0], &snapshot(&state(seed))[0][..]].concat()).collect()
}
