//! A data folder whose bytes are anything: the fuzz target's oracle on a stable compiler.

mod folder;
mod oracle;
mod spoil;

use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing_oracle::allocations::{Counting, assert_installed};
use lapwing_oracle::variants::check_near;

use folder::fixtures;
use oracle::{check_folder, folder_seeds};
use spoil::{EDGES, FIELDS};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Is every folder opened, mended or refused, whatever its files say?
#[test]
fn any_folder() {
    assert_installed();
    let (opened, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    check_near("folder", &folder_seeds(), 400, |input| {
        let count = if check_folder(input) { &opened } else { &refused };
        count.fetch_add(1, Ordering::Relaxed);
    });
    let (opened, refused) = (opened.into_inner(), refused.into_inner());
    assert!(opened > 100 && refused > 100, "{opened} opened, {refused} refused");
}

/// Records with a checksum that fits and a number where numbers end: all that say something of the log itself, and a few others.
#[test]
fn every_field_at_every_edge() {
    /// Of messages, entries and commits, one in so many.
    const STEP: usize = 211;
    for (folder, files) in fixtures().iter().enumerate() {
        for (file, contents) in files.iter().enumerate() {
            let is_own = |at: usize| !matches!(contents.bytes[at + 13], 1 | 2);
            let wanted = |record: &usize| record % STEP == 3 || is_own(contents.records[*record].0);
            for record in (0..contents.records.len()).filter(wanted) {
                at_edges(folder as u8, file as u8, record as u16);
            }
        }
    }
}

/// Each field of the record's header at each edge, and each eight bytes of its body as large as they can be.
fn at_edges(folder: u8, file: u8, record: u16) {
    let [high, low] = record.to_be_bytes();
    for (field, edge) in (0..FIELDS.len() as u8).flat_map(|field| (0..EDGES.len() as u8).map(move |edge| (field, edge)))
    {
        check_folder(&[0x80 | folder, file, 1, high, low, field, 2 * edge]);
    }
    for place in 0..64 {
        check_folder(&[0x80 | folder, file, 4, high, low, place, 2 * (EDGES.len() as u8 - 1)]);
    }
}
