//! The start of the node: how far it has come where that takes a while, and whether what stops it would stop the next one.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use lapwing_node::{Config, Extensions, Handle, NodeError, StartProgress};

use crate::fault::{Fault, Faults};
use crate::log::Log;
use crate::supervisor::Supervisor;

/// A start that takes less says nothing.
const FIRST: Duration = Duration::from_secs(1);
const THEN: Duration = Duration::from_secs(5);
/// What the kernel's address of a Unix socket has room for.
const UNIX_PATH_BYTES_MAX: usize = 107;

/// Opens the log and the listeners; clients can connect on return.
///
/// # Errors
/// What the node says. What no start could use is a wrong setting.
pub(crate) fn start(config: &Config, log: &Log, supervisor: &Supervisor) -> Result<Handle, Faults> {
    let extensions = Extensions::default();
    let progress = Arc::clone(&extensions.progress);
    let (over, waits) = channel::<()>();
    std::thread::scope(|scope| {
        // Where there is no thread for it, nothing is said of how far it has come.
        let _ = std::thread::Builder::new().spawn_scoped(scope, move || watch(&progress, &waits, log, supervisor));
        let started = Handle::start_with(config.clone(), extensions);
        drop(over);
        started.map_err(|error| of_start(&error, config).into())
    })
}

fn watch(progress: &StartProgress, over: &Receiver<()>, log: &Log, supervisor: &Supervisor) {
    let mut wait = FIRST;
    while over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = THEN;
        if let (done, total @ 1..) = progress.bytes() {
            let words = format!("reading the log: {done} of {total} bytes");
            supervisor.starting(&words);
            log.notice(&words, "start");
        }
    }
}

fn of_start(error: &NodeError, config: &Config) -> Fault {
    let fault = Fault::of_node(error);
    let lasts = match error.code() {
        "data_folder" | "store" => {
            error.is_lasting() || config.data_dir.as_deref().is_some_and(|path| path.exists() && !path.is_dir())
        }
        "bind" => {
            config.all_listeners().iter().filter_map(|listener| listener.url.strip_prefix("unix://")).any(is_no_place)
        }
        "audit" | "config" => config.audit.file.as_deref().is_some_and(|file| file.is_dir() || !is_in_folder(file)),
        _ => false,
    };
    if lasts { fault.lasting() } else { fault }
}

/// Whether no socket can lie at that path, for as long as nobody changes what is there.
fn is_no_place(path: &str) -> bool {
    let lies_there = || match std::fs::symlink_metadata(path) {
        Ok(found) => !found.file_type().is_socket(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    path.len() > UNIX_PATH_BYTES_MAX || !is_in_folder(Path::new(path)) || lies_there()
}

fn is_in_folder(path: &Path) -> bool {
    path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}
