//! `lapwingd`: a broker for the edge, one executable without Python.
//!
//! Rules of this room:
//! - It is `lapwing broker` for a file that asks for nothing of Python: the same keys, layers, units, data folder, lines,
//!   signals and exit codes. What it has not it refuses by name, and never passes over.
//! - The configuration has one truth, the model in Python: `configuration/model.json` is printed from it
//!   (`tools/lapwingd_model.py`), and a test holds the two against each other. No key, bound or default is written here.
//! - It reads, looks whether others may write what it believes, starts the node, and waits. What a broker does is the node's.
//! - Every error is a line: what, where, what to do; all of a file at once. No value of a text is in one: it may be a secret.

mod access;
mod arguments;
mod certificates;
mod configuration;
mod entrance;
mod fault;
mod http;
mod key_files;
mod log;
mod rehearsal;
mod reload;
mod rights;
mod serve;
mod signals;
mod standard_error;
mod start;
mod supervisor;
mod system;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use arguments::{Arguments, Asked};
use fault::Faults;

/// As the extension has it: many threads append to many small buffers.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let told = match arguments::read(std::env::args_os().skip(1)) {
        Ok(Asked::Words(words)) => {
            return log::say(&words).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
        }
        Ok(Asked::Broker(arguments)) => run(&arguments),
        Err(faults) => Err((faults, None)),
    };
    match told {
        Ok(code) => ExitCode::from(code),
        Err((faults, log)) => {
            let log = log.unwrap_or_default();
            faults.iter().for_each(|fault| log.failure(&fault.to_string()));
            ExitCode::from(faults.exit_code())
        }
    }
}

/// A broker, to its end. With an error comes the log that it is to be written to, once that is known.
fn run(arguments: &Arguments) -> Result<u8, (Faults, Option<Box<log::Log>>)> {
    // Before there is a second thread: all of them inherit it.
    let received = signals::take().map_err(|faults| (faults, None))?;
    system::narrow_umask();
    system::take_small_pages();
    let read = configuration::load(arguments).map_err(|faults| (faults, Some(Box::new(log::Log::early(arguments)))))?;
    let log = log::Log::of(&read.own.log);
    serve::serve(arguments, read, &received, &log).map_err(|faults| (faults, Some(Box::new(log))))
}
