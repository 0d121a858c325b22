//! Segments give way: recorded first, then seen by readers, then their files go.

use super::super::index::SegmentIndex;
use super::super::manifest::Replaced;
use super::super::map::Held;
use super::super::state::{Shared, State, segment_path};
use super::{Compacted, Context};
use crate::error::StoreError;
use crate::notice::Notice;
use crate::segment_file::index_path;

/// The sources of `replaced` give way to its output, whose index is `index`, or to nothing.
///
/// # Errors
/// `Full`, `Exhausted`: nothing changed. Anything else is fatal.
pub(crate) fn replace(
    context: &mut Context<'_>,
    replaced: &Replaced,
    index: Option<&SegmentIndex>,
    done: &mut Compacted,
) -> Result<(), StoreError> {
    context.segment.record_replaced(context.shared, replaced)?;
    let gone = context.shared.state().replace(replaced, index);
    for (sequence, lifetime, bytes) in gone {
        remove(context.shared, sequence, lifetime);
        done.deleted_segments += 1;
        done.deleted_bytes += bytes;
    }
    Ok(())
}

impl State {
    /// What readers see from now on; returns number, lifetime and bytes of the segments that are gone.
    pub(crate) fn replace(&mut self, replaced: &Replaced, index: Option<&SegmentIndex>) -> Vec<(u64, u8, u64)> {
        let listed = replaced.sources.iter().filter_map(|sequence| Some((*sequence, *self.sealed.get(sequence)?)));
        let gone = listed.map(|(sequence, listed)| (sequence, listed.lifetime, listed.end)).collect();
        replaced.apply(&mut self.sealed);
        self.map.remove(&replaced.sources);
        if let (Some((sequence, _)), Some(index)) = (replaced.output, index) {
            for (place, group) in index.groups.iter().enumerate() {
                for stretch in &group.stretches {
                    let inserted = self.map.insert(place, Held { first: stretch.first, last: stretch.last, sequence });
                    debug_assert!(inserted, "a stretch lies where its sources lay");
                }
            }
        }
        gone
    }
}

/// Removes the files of a segment that was given up. What cannot be removed now is removed when the journal is opened.
fn remove(shared: &Shared, sequence: u64, lifetime: u8) {
    shared.sealed.forget(sequence);
    let file = segment_path(&shared.dir, sequence, lifetime);
    if let Err(error) = shared.disk.remove(&file) {
        shared.notice(Notice::Postponed { file, why: error.to_string() });
    }
    let _ = shared.disk.remove(&index_path(&shared.dir, sequence));
}
