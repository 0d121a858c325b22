//! Who goes first where cores are short: threads that carry messages, or those that give way to them.
//!
//! Niceness divides time, and says nothing of when: a thread that gives way may hold a core for a scheduler's slice, some
//! milliseconds, before one that has just been woken gets it. So threads that carry messages ask for short slices: Linux
//! (6.12 and later) lets whoever asks for shorter ones, and has not had its share, take the core at once from one with longer
//! ones. A refusal of any of this costs fairness between threads, not correctness.

/// The slice that threads which carry messages ask for; a thread that has work for longer goes on, if it is its turn.
const SHORT_SLICE_US: u64 = 200;

/// Lowers the priority of the calling thread by so many steps of niceness below the rest of the process.
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

/// Has the calling thread get a core soon after it is woken, for a short time. Its share of time stays what it was.
pub(crate) fn come_soon() {
    #[cfg(target_os = "linux")]
    if let Some(mut wish) = scheduling()
        && wish.sched_policy == libc::SCHED_OTHER as u32
    {
        wish.sched_runtime = SHORT_SLICE_US * 1000;
        // SAFETY: the kernel reads one structure of the size that stands in it, which outlives the call.
        unsafe {
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const wish, 0);
        }
    }
}

/// How the calling thread is scheduled.
#[cfg(target_os = "linux")]
fn scheduling() -> Option<libc::sched_attr> {
    let size = size_of::<libc::sched_attr>() as u32;
    let mut found = libc::sched_attr {
        size,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes at most the size that it is told, into a structure of integers that outlives the call.
    let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, size, 0) };
    (answer == 0).then_some(found)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn niceness() -> i32 {
        scheduling().unwrap().sched_nice
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

    /// Does a thread that asks for short slices keep its niceness and policy, and other threads theirs?
    #[test]
    fn short_slices_change_nothing_else() {
        let before = scheduling().unwrap();
        let after = std::thread::spawn(|| {
            give_way(3);
            come_soon();
            scheduling().unwrap()
        });
        let after = after.join().unwrap();
        assert_eq!((after.sched_policy, after.sched_nice), (before.sched_policy, (before.sched_nice + 3).min(19)));
        // Kernels before 6.12 know nothing of it and say 0.
        assert!([0, SHORT_SLICE_US * 1000].contains(&after.sched_runtime), "{}", after.sched_runtime);
        assert_eq!(scheduling().unwrap().sched_runtime, before.sched_runtime);
    }
}
