//! SIGTERM, SIGINT and SIGHUP, taken one by one by a thread that waits for nothing else.

use std::sync::mpsc::{Receiver, channel};

use crate::fault::{Fault, Faults};
use crate::system;

/// What somebody wants of a broker that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Let clients go in order, then end; the second one: end at once. With the signal's number.
    End(i32),
    /// Read the configuration again.
    Reload,
}

/// From here on no thread is ended by one of them: they are heard at the other end. To be called before there is a second
/// thread, because each inherits what is blocked.
///
/// # Errors
/// The machine refuses a thread.
pub(crate) fn take() -> Result<Receiver<Signal>, Faults> {
    let blocked = system::block(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
    let (told, received) = channel();
    let wait = move || {
        loop {
            let number = blocked.wait();
            let signal = if number == libc::SIGHUP { Signal::Reload } else { Signal::End(number) };
            if told.send(signal).is_err() {
                return;
            }
        }
    };
    let spawned = std::thread::Builder::new().name("lapwing-signals".into()).spawn(wait);
    spawned.map_err(|error| Fault::failed(format!("cannot start a thread: {error}"), "", "raise ulimit -u"))?;
    Ok(received)
}
