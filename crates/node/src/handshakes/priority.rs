//! Gives way to the threads that carry messages.

/// Steps of niceness below the rest of the process: about a tenth of what a data thread gets where both want the same core,
/// so a flood of handshakes takes what is to spare, and a busy broker goes on shaking hands.
#[cfg(target_os = "linux")]
const STEPS: libc::c_int = 10;

/// Lowers the priority of the calling thread. A refusal costs fairness between threads, not correctness.
///
/// On Linux niceness belongs to a thread, though POSIX says that it is the process's: elsewhere nothing is done.
pub(super) fn give_way() {
    #[cfg(target_os = "linux")]
    // SAFETY: takes and returns a number; no memory of ours is touched.
    unsafe {
        libc::nice(STEPS);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn niceness() -> i64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        // Behind the name, which stands in brackets: the nineteenth field is the seventeenth.
        stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().parse().unwrap()
    }

    /// Does the calling thread get nicer, and no other one?
    #[test]
    fn one_thread_gives_way() {
        let before = niceness();
        let other = std::thread::spawn(|| {
            give_way();
            niceness()
        });
        assert_eq!(other.join().unwrap(), (before + 10).min(19));
        assert_eq!(niceness(), before);
    }
}
