//! A segment is sealed and the next one begun while somebody reads.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::*;
use crate::sim::SimDisk;
use lapwing_store::disk::{Intercept, InterceptedDisk};
use lapwing_store::{Log, LogConfig, LogReader};

/// Reads the whole stream whenever something is synced: in every moment in which a reader could meet a half-done roll.
#[derive(Debug, Default)]
struct ReadsAtEachSync {
    reader: Mutex<Option<LogReader>>,
    reads: AtomicU64,
}

impl Intercept for ReadsAtEachSync {
    fn on_sync(&self) -> std::io::Result<()> {
        // What the read itself writes is not looked at.
        if let Ok(reader) = self.reader.try_lock()
            && let Some(reader) = reader.as_ref()
        {
            read_all(reader, 0);
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn who_reads_a_segment_as_soon_as_it_is_sealed_finds_its_index() {
    let reads = Arc::<ReadsAtEachSync>::default();
    let disk = InterceptedDisk::new(Arc::new(SimDisk::new(1)), reads.clone());
    let config = LogConfig::default();
    let (mut writer, reader) =
        Log::open_on(Arc::new(disk), Path::new("/data"), &config, &[small("s", 1)]).expect("open");
    *reads.reader.lock().expect("nobody panicked") = Some(reader.clone());
    for number in 0..300 {
        append(&mut writer, 0, &[number as u8; 1000]);
        writer.commit().expect("commit");
    }
    assert!(reader.streams()[0].segments > 3, "segments were sealed");
    assert!(reads.reads.load(Ordering::Relaxed) > 300, "and read meanwhile");
    let rebuilt = reader.counters().list().into_iter().find(|(name, ..)| *name == "indexes_rebuilt");
    assert_eq!(rebuilt.expect("a counter").2, 0);
}
