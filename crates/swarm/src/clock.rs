//! The monotonic clock and the CPU clocks, as plain nanoseconds.
//!
//! `std::time::Instant` hides its number; the swarm needs the number, because a due time travels inside a
//! payload and is compared in another process. `CLOCK_MONOTONIC` is one clock for all processes of a machine.

use libc::{CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, clockid_t, pid_t, timespec};

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// Nanoseconds since some fixed point, the same for every process of this machine.
#[inline]
pub fn now_ns() -> u64 {
    read(CLOCK_MONOTONIC).unwrap_or(0)
}

/// CPU time this thread has used, user and system, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// CPU time that all threads of process `pid` have used, in nanoseconds; `None` when there is no such process.
///
/// The kernel's clock of another process counts nanoseconds; `/proc/PID/stat` counts hundredths of a second.
pub fn cpu_ns_of(pid: u32) -> Option<u64> {
    // The kernel packs the pid into the clock's id: beyond its own limit (2^22) the id would name another clock.
    let pid = pid_t::try_from(pid).ok().filter(|pid| (1..=1 << 22).contains(pid))?;
    let mut clock: clockid_t = 0;
    // SAFETY: `clock` is a valid place for the answer; the call keeps no pointer.
    let answer = unsafe { libc::clock_getcpuclockid(pid, &mut clock) };
    if answer != 0 {
        return None;
    }
    read(clock)
}

#[inline]
fn read(clock: clockid_t) -> Option<u64> {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer; the call keeps no pointer.
    let answer = unsafe { libc::clock_gettime(clock, &mut time) };
    // The clocks here are never negative; a failure is a clock that does not exist.
    (answer == 0).then(|| time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does time go forward, and does work show as CPU time of the thread and of the process?
    #[test]
    fn clocks_go_forward() {
        let (wall, cpu) = (now_ns(), thread_cpu_ns());
        while thread_cpu_ns() - cpu < MILLISECOND_NS {
            std::hint::black_box(0);
        }
        assert!(now_ns() > wall);
        assert!(cpu_ns_of(std::process::id()).is_some_and(|ns| ns >= MILLISECOND_NS));
    }

    /// Is a process that does not exist told from one that does?
    #[test]
    fn no_such_process() {
        assert_eq!(cpu_ns_of(u32::MAX), None);
        assert_eq!(cpu_ns_of(i32::MAX as u32), None);
        assert_eq!(cpu_ns_of(0), None);
    }
}
