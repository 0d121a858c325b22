//! Every number that a group may set, with its default and its range.

use thiserror::Error;

/// Numbers of one group. Defaults are those of the design; [`Parameters::TABLE`] has names, ranges and meanings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    pub(crate) phi: f64,
    pub(crate) kappa: f64,
    pub(crate) gain: f64,
    pub(crate) clip: f64,
    pub(crate) tau_ms: f64,
    pub(crate) softness: f64,
    pub(crate) window: f64,
    pub(crate) window_backlog: f64,
    pub(crate) window_critical: f64,
    pub(crate) gamma: f64,
    pub(crate) spread_ms: f64,
    pub(crate) stall_ms: f64,
    pub(crate) stall_factor: f64,
    pub(crate) sample: f64,
    pub(crate) peak_tau_ms: f64,
    pub(crate) broke_queue: f64,
    pub(crate) key_slack_ms: f64,
    pub(crate) key_slack_share: f64,
    pub(crate) blind_ms: f64,
    pub(crate) blind_share: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            phi: 3.0,
            kappa: 4.0,
            gain: 0.03,
            clip: 8.0,
            tau_ms: 2000.0,
            softness: 2.0,
            window: 3.0,
            window_backlog: 4.0,
            window_critical: 2.0,
            gamma: 4.0,
            spread_ms: 50.0,
            stall_ms: 1000.0,
            stall_factor: 10.0,
            sample: 8.0,
            peak_tau_ms: 10_000.0,
            broke_queue: 50.0,
            key_slack_ms: 100.0,
            key_slack_share: 0.5,
            blind_ms: 0.25,
            blind_share: 0.2,
        }
    }
}

/// One parameter: what it is called, what it may be.
pub struct Parameter {
    /// The name in settings; units last.
    pub name: &'static str,
    /// Least value.
    pub low: f64,
    /// Greatest value.
    pub high: f64,
    /// What it does.
    pub meaning: &'static str,
    place: fn(&mut Parameters) -> &mut f64,
}

/// A parameter that cannot be so.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParameterError {
    /// No parameter has this name.
    #[error("no parameter {got:?}; there are {}", names())]
    Unknown {
        /// As given.
        got: String,
    },
    /// The value is out of range, or not a number.
    #[error("{name} = {got}: it must be {low} to {high}")]
    OutOfRange {
        /// Which.
        name: &'static str,
        /// As given.
        got: f64,
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
}

macro_rules! parameter {
    ($field:ident, $name:literal, $low:literal ..= $high:literal, $meaning:literal) => {
        Parameter { name: $name, low: $low, high: $high, meaning: $meaning, place: |all| &mut all.$field }
    };
}

impl Parameters {
    /// All of them.
    pub const TABLE: &[Parameter] = &[
        parameter!(
            phi,
            "bulk_factor",
            1.0..=100.0,
            "how many times its own wait a bulk message pays; a critical one pays it once"
        ),
        parameter!(
            kappa,
            "overdue_factor",
            0.0..=100.0,
            "how many times a member pays what its oldest message is overdue"
        ),
        parameter!(gain, "gain", 0.001..=1.0, "weight of one more sample in the work estimate"),
        parameter!(clip, "clip_factor", 1.0..=1000.0, "a sample counts as at most so many estimates"),
        parameter!(
            tau_ms,
            "forget_ms",
            1.0..=600_000.0,
            "a slow member that is not asked approaches its long-run estimate this fast"
        ),
        parameter!(softness, "softness", 0.1..=100.0, "so many messages of work around empty, a wait counts gradually"),
        parameter!(window, "window", 1.0..=1000.0, "messages that a near member may have"),
        parameter!(
            window_backlog,
            "window_backlog",
            0.0..=1000.0,
            "more messages per member when the group's queue is long, at most"
        ),
        parameter!(window_critical, "window_critical", 0.0..=1000.0, "more messages for critical work"),
        parameter!(
            gamma,
            "spread_factor",
            0.1..=1000.0,
            "no member is used at more than about so many times its fair rate"
        ),
        parameter!(
            spread_ms,
            "spread_ms",
            0.0..=60_000.0,
            "one message keeps a member from the next for at most so long"
        ),
        parameter!(
            stall_ms,
            "stall_ms",
            0.0..=86_400_000.0,
            "a member is stalled when its oldest message is overdue by this; 0: never"
        ),
        parameter!(stall_factor, "stall_factor", 1.0..=1e6, "and by so many times its work estimate"),
        parameter!(sample, "sample", 3.0..=64.0, "members looked at per pick when there are more than 64"),
        parameter!(peak_tau_ms, "peak_forget_ms", 1.0..=600_000.0, "peak-ewma: how fast a peak is forgotten"),
        parameter!(
            broke_queue,
            "broke_queue",
            1.0..=65_535.0,
            "broke: the queue whose 0.8 and 0.5 are the watermarks, messages"
        ),
        parameter!(
            key_slack_ms,
            "key_slack_ms",
            0.0..=3_600_000.0,
            "key-ordered: a key moves when its member is worse than the best by this"
        ),
        parameter!(key_slack_share, "key_slack_share", 0.0..=100.0, "key-ordered: and by this share of the best"),
        parameter!(
            blind_ms,
            "blind_ms",
            0.0..=1000.0,
            "who acknowledges closer together than this is taken to do so on receipt"
        ),
        parameter!(
            blind_share,
            "blind_share",
            0.0..=0.5,
            "and who does so closer than this share of the work of the faster others"
        ),
    ];

    /// Sets one parameter.
    ///
    /// # Errors
    /// An unknown name (with all names), a value out of range (with the range).
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        let Some(parameter) = Self::TABLE.iter().find(|parameter| parameter.name == name) else {
            return Err(ParameterError::Unknown { got: name.to_owned() });
        };
        let Parameter { name, low, high, .. } = *parameter;
        if !(low..=high).contains(&value) {
            return Err(ParameterError::OutOfRange { name, got: value, low, high });
        }
        *(parameter.place)(self) = value;
        Ok(())
    }

    /// The value of one parameter; None for an unknown name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let parameter = Self::TABLE.iter().find(|parameter| parameter.name == name)?;
        Some(*(parameter.place)(&mut { *self }))
    }
}

fn names() -> String {
    let names: Vec<_> = Parameters::TABLE.iter().map(|parameter| parameter.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_in_its_range_and_each_name_sets_its_own() {
        for (at, parameter) in Parameters::TABLE.iter().enumerate() {
            let mut parameters = Parameters::default();
            let default = parameters.get(parameter.name).unwrap_or(f64::NAN);
            assert!((parameter.low..=parameter.high).contains(&default), "{} = {default}", parameter.name);
            parameters.set(parameter.name, parameter.high).unwrap();
            for (other, named) in Parameters::TABLE.iter().enumerate() {
                let changed = parameters.get(named.name) != Parameters::default().get(named.name);
                assert_eq!(changed, at == other, "{} and {}", parameter.name, named.name);
            }
        }
    }

    #[test]
    fn what_cannot_be_is_said_with_names_and_range() {
        let mut parameters = Parameters::default();
        let unknown = parameters.set("windov", 3.0).unwrap_err().to_string();
        assert!(unknown.contains("windov") && unknown.contains("window, window_backlog"), "{unknown}");
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            let error = parameters.set("window", bad).unwrap_err().to_string();
            assert!(error.contains("1 to 1000"), "{error}");
        }
        assert_eq!(parameters, Parameters::default());
    }
}
