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

/// Some records with a checksum that fits and a number where numbers end: are they believed?
#[test]
fn every_field_at_every_edge() {
    /// Records between two that are changed.
    const STEP: usize = 97;
    for (folder, files) in fixtures().iter().enumerate() {
        for (file, contents) in files.iter().enumerate() {
            for (record, field) in
                (0..contents.records.len()).step_by(STEP).flat_map(|n| (0..FIELDS.len()).map(move |f| (n, f)))
            {
                for edge in 0..EDGES.len() {
                    let [high, low] = (record as u16).to_be_bytes();
                    check_folder(&[0x80 | folder as u8, file as u8, 1, high, low, field as u8, 2 * edge as u8]);
                }
            }
        }
    }
}
