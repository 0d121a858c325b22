//! Threads that give way: a password can wait a little, a message cannot.

/// How much: where all cores are busy, about two thirds of what a data thread has. With 5 (a third) a check of 25 ms took
/// seconds on a machine whose cores others kept busy.
#[cfg(target_os = "linux")]
const NICE: libc::c_int = 2;

/// The calling thread gives way to others from now on.
pub(super) fn give_way() {
    // Linux counts niceness by thread: 0 is the calling one. What a sandbox forbids is no reason not to check passwords.
    // SAFETY: a call with three numbers; it keeps and writes nothing of ours.
    #[cfg(target_os = "linux")]
    let _ = unsafe {
        let before = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, before + NICE)
    };
}
