//! The threads of a node: each ends the node when it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::clock::TimekeeperThread;
use crate::error::NodeError;
use crate::hooks::HookThread;
use crate::log::LogThread;
use crate::passwords::PasswordThread;
use crate::queue_pages::PageThread;
use crate::shard::Shard;
use crate::shared::Shared;

pub(super) fn spawn_shard(shared: &Arc<Shared>, shard: Shard) -> Result<JoinHandle<()>, NodeError> {
    let name = format!("lapwing-{}", shard.id().index());
    let shared = shared.clone();
    spawn(name, move || guarded(&shared, || shard.run()))
}

pub(super) fn spawn_log(shared: &Arc<Shared>, log: LogThread) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-log".into(), move || guarded(&shared, || log.run().map_err(NodeError::from)))
}

pub(super) fn spawn_pages(shared: &Arc<Shared>, pages: PageThread) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-pages".into(), move || guarded(&shared, || pages.run()))
}

pub(super) fn spawn_passwords(shared: &Arc<Shared>, passwords: PasswordThread) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-passwords".into(), move || {
        guarded(&shared, || {
            passwords.run();
            Ok(())
        });
    })
}

pub(super) fn spawn_hooks(shared: &Arc<Shared>, hooks: HookThread) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-hooks".into(), move || {
        guarded(&shared, || {
            hooks.run();
            Ok(())
        });
    })
}

pub(super) fn spawn_timekeeper(shared: &Arc<Shared>, keeper: TimekeeperThread) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-clock".into(), move || {
        guarded(&shared, || {
            keeper.run();
            Ok(())
        });
    })
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, NodeError> {
    let spawned = thread::Builder::new().name(name).spawn(work);
    spawned.map_err(|source| NodeError::System { doing: "start a thread", source })
}

/// Runs `work`; an error or a panic stops the whole node, because its part of the clients would hang otherwise.
fn guarded(shared: &Shared, work: impl FnOnce() -> Result<(), NodeError>) {
    let failed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(panic) => {
            let what = panic.downcast_ref::<String>().cloned();
            let what = what.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let thread = thread::current().name().unwrap_or("a thread").to_owned();
            NodeError::Defect { thread, what: what.unwrap_or_else(|| "no message".into()) }
        }
    };
    shared.fail(&failed);
}
