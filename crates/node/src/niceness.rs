//! Threads that give way to those that carry messages.

/// Lowers the priority of the calling thread by so many steps of niceness below the rest of the process. A refusal costs
/// fairness between threads, not correctness.
///
/// On Linux niceness belongs to a thread, though POSIX says that it is the process's: elsewhere nothing is done.
pub(crate) fn give_way(steps: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: takes and returns a number; no memory of ours is touched.
    unsafe {
        libc::nice(steps);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = steps;
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
            give_way(10);
            niceness()
        });
        assert_eq!(other.join().unwrap(), (before + 10).min(19));
        assert_eq!(niceness(), before);
    }
}
