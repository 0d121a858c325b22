//! What keeps a broker from starting or going on: what, where, what to do, in one line; and its exit code.

use std::fmt;

use lapwing_node::{NodeError, one_line};

/// A wrong setting: starting again changes nothing.
const WRONG: u8 = 2;
/// Anything else that the message names.
const FAILED: u8 = 1;
/// A defect of Lapwing's own, as `sysexits.h` numbers an internal error of software: start it again.
const DEFECT: u8 = 70;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    what: String,
    place: String,
    remedy: String,
    exit_code: u8,
}

impl Fault {
    /// A setting that is wrong. `place`: a file and line, a variable, a flag; may be empty.
    pub(crate) fn wrong(what: impl Into<String>, place: impl Into<String>, remedy: impl Into<String>) -> Self {
        Fault { what: what.into(), place: place.into(), remedy: remedy.into(), exit_code: WRONG }
    }

    /// Something that may be otherwise the next time.
    pub(crate) fn failed(what: impl Into<String>, place: impl Into<String>, remedy: impl Into<String>) -> Self {
        Fault { exit_code: FAILED, ..Fault::wrong(what, place, remedy) }
    }

    /// An error of the node, which names key, file or address itself.
    pub(crate) fn of_node(error: &NodeError) -> Self {
        Fault::of_code(error.code(), &error.to_string(), &error.remedy())
    }

    /// The same from its parts, as a node that has failed by itself tells them.
    pub(crate) fn of_code(code: &str, message: &str, remedy: &str) -> Self {
        let exit_code = match code {
            "config" | "address" | "certificate" | "stream_settings" => WRONG,
            "defect" => DEFECT,
            _ => FAILED,
        };
        let what = message.trim_end_matches('.').to_owned();
        Fault { what, place: String::new(), remedy: remedy.to_owned(), exit_code }
    }

    /// The same at a place.
    pub(crate) fn at(self, place: String) -> Self {
        Fault { place, ..self }
    }

    /// The same with another exit code: what no start can use is a wrong setting.
    pub(crate) fn lasting(self) -> Self {
        Fault { exit_code: WRONG, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = self.what.clone();
        // A message that names the place already need not name it twice.
        if !self.place.is_empty() && !self.what.contains(&self.place) {
            line += &format!(" ({})", self.place);
        }
        if !self.remedy.is_empty() {
            line += &format!(": {}", self.remedy);
        }
        f.write_str(&one_line(line.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
}

/// All that is wrong, at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(crate) fn add(&mut self, other: Faults) {
        self.0.extend(other.0);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }

    /// `value`, unless something is wrong.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Faults> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// What the process ends with: the worst of them.
    pub(crate) fn exit_code(&self) -> u8 {
        self.0.iter().map(|fault| fault.exit_code).max().unwrap_or(FAILED)
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Faults(vec![fault])
    }
}

impl From<NodeError> for Faults {
    fn from(error: NodeError) -> Self {
        Fault::of_node(&error).into()
    }
}
