//! File descriptors: every connection needs one, and so does the log for its next segment.
//!
//! The soft limit is raised to the hard one, and connections may take all of it but a reserve.

use std::io;

use crate::config::{Config, Limits, StreamConfig};

/// Fewer connections than this are few: whoever has set no number is told of those only.
const FEW: u64 = 1_000;
/// Kept for the program around the node, its listeners and what it opens in passing.
const RESERVE: u64 = 64;
/// Of each shard, and of each thread that does handshakes: its event queue, its waker; its listeners come on top.
const PER_SHARD: u64 = 8;
/// Of each stream, beside its sealed segments: the active one, its index, the next one.
const PER_STREAM: u64 = 4;

/// Raises the limit of open files; returns how many connections the node may have, and what to tell the operator when
/// those are fewer than somebody has configured, or few.
pub(crate) fn connections(config: &Config) -> (u32, Option<String>) {
    let wanted = config.limits.connections_max;
    match raise() {
        Ok(files) => {
            let is_set = wanted != Limits::default().connections_max;
            allowed(wanted, files, reserve(config), is_set)
        }
        // What the limit is cannot be known; a listener that finds no descriptor pauses, and so does the log.
        Err(_) => (wanted, None),
    }
}

fn reserve(config: &Config) -> u64 {
    let segments = |stream: &StreamConfig| {
        let sealed = stream.retain_bytes / stream.segment_bytes.max(1);
        PER_STREAM + sealed
    };
    let streams: u64 = config.streams.values().map(segments).sum();
    let listeners = (config.listen.len() + config.listeners.len()) as u64;
    RESERVE + (PER_SHARD + listeners) * u64::from(config.shard_count() + config.handshake_threads()) + streams
}

/// At least a quarter of the files stays for connections, however much is to be reserved.
fn allowed(wanted: u32, files: u64, reserve: u64, is_set: bool) -> (u32, Option<String>) {
    let most = files.saturating_sub(reserve).max(files / 4);
    if u64::from(wanted) <= most {
        return (wanted, None);
    }
    let notice = || {
        format!(
            "this process may open {files} files: {most} connections are taken instead of connections_max = {wanted}; \
         raise the hard limit of open files (ulimit -Hn) for more"
        )
    };
    (u32::try_from(most).unwrap_or(wanted), (is_set || most < FEW).then(notice))
}

/// Sets the soft limit to the hard limit; returns what holds then.
fn raise() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer; the call keeps no pointer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max };
    // SAFETY: `raised` is read during the call only.
    let is_raised = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0;
    // A sandbox may forbid even this; what there is then has to do.
    Ok(if is_raised { raised.rlim_cur } else { limit.rlim_cur })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what the process cannot hold refused beforehand, with words, and nothing said when all is well?
    #[test]
    fn connections_leave_a_reserve() {
        assert_eq!(allowed(1000, 2000, 100, true), (1000, None));
        let (most, notice) = allowed(1000, 500, 100, true);
        assert_eq!(most, 400);
        assert!(notice.unwrap().contains("400 connections are taken instead of connections_max = 1000"));
        assert_eq!(allowed(1000, 100, 5000, true).0, 25);
        assert_eq!(
            allowed(100_000, 20_000, 100, false),
            (19_900, None),
            "nobody has asked for more, and they are many"
        );
        assert!(allowed(100_000, 1_000, 100, false).1.is_some());
    }
}
