//! The threads of a node: each ends the node when it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use super::place;
use crate::audit::AuditThread;
use crate::clock::TimekeeperThread;
use crate::error::NodeError;
use crate::handshakes::HandshakeThread;
use crate::hooks::HookThread;
use crate::log::LogWiring;
use crate::one_line::one_line;
use crate::opened_log::Writing;
use crate::passwords::{PasswordThread, PasswordWorker};
use crate::queue_pages::PageThread;
use crate::shard::Shard;
use crate::shared::Shared;
use crate::sn::SnThread;
use crate::token_keys::KeyThread;

pub(super) fn spawn_shard(shared: &Arc<Shared>, mut shard: Shard) -> Result<JoinHandle<()>, NodeError> {
    let name = format!("lapwing-{}", shard.id().index());
    let shared = shared.clone();
    spawn(name, move || {
        let Err(error) = attempted(|| shard.run()) else { return };
        // Its state is whatever the panic left: whoever looks into it may panic again, and then has nothing to say.
        let in_hand = catch_unwind(AssertUnwindSafe(|| shard.in_hand_words())).unwrap_or_default();
        shared.fail(&error.with_in_hand(in_hand));
    })
}

/// Takes `writers`, where a thread can be had. That gives them back at its end, unless it has failed or the disk was full.
pub(super) fn spawn_log(
    shared: &Arc<Shared>,
    wiring: LogWiring,
    writers: &mut Option<Writing>,
) -> Result<JoinHandle<Option<Writing>>, NodeError> {
    let shared = shared.clone();
    let (hand_over, handed) = sync_channel::<Writing>(1);
    let thread = spawn("lapwing-log".into(), move || {
        let mut writers = None;
        guarded(&shared, || {
            if let Ok(handed) = handed.recv() {
                writers = handed.run(wiring)?;
            }
            Ok(())
        });
        writers
    })?;
    if let Some(writers) = writers.take() {
        // It waits for them, so somebody takes them.
        let _ = hand_over.send(writers);
    }
    Ok(thread)
}

pub(super) fn spawn_audit(shared: &Arc<Shared>, audit: AuditThread) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-audit".into(), move || guarded(&shared, || audit.run()))
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

pub(super) fn spawn_password_worker(shared: &Arc<Shared>, worker: PasswordWorker) -> Result<JoinHandle<()>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-checks".into(), move || {
        guarded(&shared, || {
            worker.run();
            Ok(())
        });
    })
}

pub(super) fn spawn_handshakes(
    shared: &Arc<Shared>,
    mut handshakes: HandshakeThread,
) -> Result<JoinHandle<()>, NodeError> {
    let name = format!("lapwing-tls-{}", handshakes.number());
    let shared = shared.clone();
    spawn(name, move || guarded(&shared, || handshakes.run()))
}

/// Its clients' connections end with what is given back, not with the thread: a shard that is not over yet would take that
/// for clients that are lost, and send their wills.
pub(super) fn spawn_sn(shared: &Arc<Shared>, mut sn: SnThread) -> Result<JoinHandle<SnThread>, NodeError> {
    let shared = shared.clone();
    spawn("lapwing-sn".into(), move || {
        guarded(&shared, || sn.run());
        sn
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

/// Nobody waits for its end: it may be within a request.
pub(super) fn spawn_token_keys(shared: &Arc<Shared>, keys: KeyThread) -> Result<(), NodeError> {
    let shared = shared.clone();
    let spawned = spawn("lapwing-keys".into(), move || {
        guarded(&shared, || {
            keys.run();
            Ok(())
        });
    });
    spawned.map(drop)
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

fn spawn<T: Send + 'static>(
    name: String,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NodeError> {
    let spawned = thread::Builder::new().name(name).spawn(work);
    spawned.map_err(|source| NodeError::System { doing: "start a thread", source })
}

/// Runs `work`; an error or a panic stops the whole node, because its part of the clients would hang otherwise.
fn guarded(shared: &Shared, work: impl FnOnce() -> Result<(), NodeError>) {
    if let Err(error) = attempted(work) {
        shared.fail(&error);
    }
}

/// Runs `work`; a panic becomes an error that says where it was.
fn attempted(work: impl FnOnce() -> Result<(), NodeError>) -> Result<(), NodeError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str);
        let what = what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let thread = thread::current().name().unwrap_or("a thread").to_owned();
        let place = place::take().unwrap_or_else(|| "a place that is not known".into());
        Err(NodeError::Defect { thread, place, in_hand: None, what: one_line(what.to_owned()) })
    })
}
