//! A node of this process in its folder: started, stopped, and started again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lapwing_node::{Config, Handle};
use lapwing_store::Log;
use tempfile::TempDir;

use crate::disk::slow_disk;
use crate::place::Place;
use crate::run::{Arrangement, PATIENCE};

/// Small segments and snapshots, so that a short run has several of them; a stream, a declared group, topics in memory, a
/// hold.
const TABLES: &str = r#""log_init_zero": false, "durability": "disk",
    "streams": {"plain": {"filter": "p/#"}}, "groups": {"x": {"filters": ["g/#"]}},
    "topics": {"m/#": {"durability": "memory"}}, "hold": {"h/#": {}}"#;
pub(crate) const SMALL_LOG: &str = r#""log_snapshot_bytes": 4096, "log_segment_bytes": 65536"#;

/// A folder, and the node that runs in it.
pub(crate) struct Folder {
    dir: TempDir,
    node: Option<Handle>,
    limits: String,
    sync_ms: Arc<AtomicU64>,
}

impl Folder {
    /// A new folder; nothing runs in it yet.
    pub(crate) fn new(arrangement: &Arrangement) -> Result<Folder, String> {
        let dir = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let sync_ms = Arc::new(AtomicU64::new(arrangement.sync_ms));
        Ok(Folder { dir, node: None, limits: arrangement.all_limits(), sync_ms })
    }
}

impl Place for Folder {
    fn start(&mut self, shards: u32) -> Result<(), String> {
        let (dir, limits) = (self.dir.path(), &self.limits);
        let json = format!(r#"{{"shards": {shards}, "data_dir": {dir:?}, "limits": {{{limits}}}, {TABLES}}}"#);
        let mut config = Config::from_json(&json).map_err(|error| error.to_string())?;
        config.listen = vec!["tcp://127.0.0.1:0".into()];
        config.pin = false;
        let disk = Arc::new(slow_disk(self.sync_ms.clone()));
        let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
        let node = Handle::start_with_log(config, Box::new(open)).map_err(|error| format!("the start: {error}"))?;
        self.node = Some(node);
        Ok(())
    }

    fn is_killed(&self) -> bool {
        false
    }

    fn stop(&mut self, drained: bool) -> Result<(), String> {
        let Some(node) = self.node.take() else { return Ok(()) };
        if drained {
            node.drain(PATIENCE).map_err(|error| format!("the drain: {error}"))?;
        }
        node.stop().map_err(|error| format!("the node: {error}"))
    }

    fn slow(&self, sync_ms: u64) {
        self.sync_ms.store(sync_ms, Ordering::Relaxed);
    }

    fn url(&self) -> String {
        self.node.as_ref().map(|node| node.listeners()[0].clone()).unwrap_or_default()
    }

    fn check(&mut self) -> Result<(), String> {
        match self.node.as_ref().and_then(Handle::failure) {
            Some(failure) => Err(format!("the node: {}", failure.message)),
            None => Ok(()),
        }
    }
}
