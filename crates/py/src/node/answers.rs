//! Answers about who sends a request, on their way to Python: one thread takes the interpreter's lock for all of them, so that
//! the one that decides whose password is checked next never waits for it.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use lapwing_node::Identified;
use pyo3::prelude::*;

/// Outcome, name, and for how many seconds that is so.
pub(super) type AnswerRow = (&'static str, String, f64);
/// Who is called with it.
pub(super) type Told = (Py<PyAny>, Identified);

/// The way to that thread, which begins with the first question and ends with the node.
#[derive(Default)]
pub(super) struct Answers(Mutex<Option<Sender<Told>>>);

impl Answers {
    pub(super) fn sender(&self) -> io::Result<Sender<Told>> {
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender {
            return Ok(sender.clone());
        }
        let (begun, answers) = channel();
        thread::Builder::new().name("lapwing-answers".into()).spawn(move || tell(&answers))?;
        *sender = Some(begun.clone());
        Ok(begun)
    }
}

fn tell(answers: &Receiver<Told>) {
    while let Ok((then, identified)) = answers.recv() {
        let told = Python::try_attach(|py| {
            if let Err(error) = then.call1(py, row(identified)) {
                error.write_unraisable(py, None);
            }
            drop(then);
        });
        if told.is_none() {
            return; // Python is shutting down
        }
    }
}

pub(super) fn row(identified: Identified) -> AnswerRow {
    match identified {
        Identified::Known { name, good_for_ms } => ("known", name, good_for_ms as f64 / 1000.0),
        Identified::Wrong => ("wrong", String::new(), 0.0),
        Identified::Barred => ("barred", String::new(), 0.0),
        Identified::Busy => ("busy", String::new(), 0.0),
        Identified::Unavailable => ("unavailable", String::new(), 0.0),
    }
}
