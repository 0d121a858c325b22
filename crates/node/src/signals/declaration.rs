//! What a client declares about itself, once: in CONNECT, or (3.1.1) on `$lapwing/report`.

use lapwing_codec::UserProperties;
use lapwing_dispatch::{Acknowledges, Declaration, WORKERS_MAX};

use super::number::number;

const ACK: &str = "lapwing-ack";
const WORKERS: &str = "lapwing-workers";
const BATCH: &str = "lapwing-batch";
const PROBE: &str = "lapwing-probe";

/// Shortest time between two probes that may be asked for, in milliseconds.
pub(crate) const PROBE_MS_MIN: u64 = 50;
/// Longest time between two probes that may be asked for, in milliseconds.
pub(crate) const PROBE_MS_MAX: u64 = 60_000;

/// What one client has declared, whatever groups it is in. `None`: it has not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    /// What its acknowledgements mean; never `Undeclared`.
    pub(crate) acknowledges: Option<Acknowledges>,
    /// Messages that it works on at a time, 1..=[`WORKERS_MAX`].
    pub(crate) workers: Option<u16>,
    /// Messages that it wants at once, at least 1.
    pub(crate) batch: Option<u16>,
    /// Time between probes in milliseconds, [`PROBE_MS_MIN`]..=[`PROBE_MS_MAX`].
    pub(crate) probe_ms: Option<u32>,
}

/// What holds in a group for members that declare nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Defaults {
    /// What their acknowledgements mean.
    pub(crate) acknowledges: Acknowledges,
    /// Messages that each works on at a time.
    pub(crate) workers: u16,
}

impl Declared {
    /// Reads the user properties of a CONNECT; of several of one name the last that can be read stands.
    ///
    /// Also returns how many values could not be read and are ignored.
    pub(crate) fn in_connect(user: &UserProperties<'_>) -> (Declared, u32) {
        let (mut declared, mut ignored) = (Declared::default(), 0);
        for (name, value) in user {
            ignored += u32::from(!declared.take(name, value));
        }
        (declared, ignored)
    }

    /// Takes one property over; false if it is one of ours and cannot be read.
    fn take(&mut self, name: &str, value: &str) -> bool {
        match name {
            ACK => replace(&mut self.acknowledges, acknowledges_of(value)),
            WORKERS => replace(&mut self.workers, workers_of(number(value, 0..=u64::MAX))),
            BATCH => replace(&mut self.batch, batch_of(number(value, 0..=u64::MAX))),
            PROBE => replace(&mut self.probe_ms, probe_ms_of(number(value, 0..=u64::MAX))),
            _ => true,
        }
    }

    /// The same with what was declared later in its place.
    pub(crate) fn and_then(self, later: Declared) -> Declared {
        Declared {
            acknowledges: later.acknowledges.or(self.acknowledges),
            workers: later.workers.or(self.workers),
            batch: later.batch.or(self.batch),
            probe_ms: later.probe_ms.or(self.probe_ms),
        }
    }

    /// What dispatch is told of this client as member of one group.
    ///
    /// `identity`: stable hash of its client id. `receive_max`: messages that it may have unacknowledged. `is_proxied`: see
    /// `lapwing_transport::Socket::is_proxied`.
    ///
    /// A batch of one is none. Of a larger one dispatch knows that it is one: how many the member has at a time is bounded
    /// by its Receive Maximum, so that the next batch is on its way while it works on this one.
    pub(crate) fn for_group(
        self,
        identity: u64,
        receive_max: u16,
        is_proxied: bool,
        defaults: Defaults,
    ) -> Declaration {
        Declaration {
            acknowledges: self.acknowledges.unwrap_or(defaults.acknowledges),
            workers: self.workers.unwrap_or(defaults.workers),
            is_batch: self.batch.is_some_and(|messages| messages > 1),
            is_proxied,
            ..Declaration::standard(identity, receive_max)
        }
    }
}

/// Puts what was read in its place; false if nothing was.
fn replace<T>(place: &mut Option<T>, read: Option<T>) -> bool {
    let is_read = read.is_some();
    *place = read.or(place.take());
    is_read
}

pub(super) fn acknowledges_of(text: &str) -> Option<Acknowledges> {
    match text {
        "processed" => Some(Acknowledges::Processed),
        "received" => Some(Acknowledges::Received),
        _ => None,
    }
}

pub(super) fn workers_of(number: Option<u64>) -> Option<u16> {
    u16::try_from(number?).ok().filter(|workers| (1..=WORKERS_MAX).contains(workers))
}

pub(super) fn batch_of(number: Option<u64>) -> Option<u16> {
    u16::try_from(number?).ok().filter(|messages| *messages > 0)
}

pub(super) fn probe_ms_of(number: Option<u64>) -> Option<u32> {
    number.filter(|ms| (PROBE_MS_MIN..=PROBE_MS_MAX).contains(ms)).and_then(|ms| u32::try_from(ms).ok())
}

#[cfg(test)]
mod tests {
    use lapwing_codec::UserPropertiesBuf;

    use super::*;

    fn read(pairs: &[(&str, &str)]) -> (Declared, u32) {
        let mut user = UserPropertiesBuf::new();
        for (name, value) in pairs {
            user.push(name, value).unwrap();
        }
        Declared::in_connect(&user.as_ref())
    }

    const NOTHING: Declared = Declared { acknowledges: None, workers: None, batch: None, probe_ms: None };
    const UNSAID: Defaults = Defaults { acknowledges: Acknowledges::Undeclared, workers: 1 };

    /// Is everything that may be declared understood, up to the ends of its range?
    #[test]
    fn what_is_declared_is_understood() {
        for (name, value, expected) in [
            ("lapwing-ack", "processed", Declared { acknowledges: Some(Acknowledges::Processed), ..NOTHING }),
            ("lapwing-ack", "received", Declared { acknowledges: Some(Acknowledges::Received), ..NOTHING }),
            ("lapwing-workers", "1", Declared { workers: Some(1), ..NOTHING }),
            ("lapwing-workers", "1024", Declared { workers: Some(1024), ..NOTHING }),
            ("lapwing-batch", "1", Declared { batch: Some(1), ..NOTHING }),
            ("lapwing-batch", "65535", Declared { batch: Some(65_535), ..NOTHING }),
            ("lapwing-probe", "50", Declared { probe_ms: Some(50), ..NOTHING }),
            ("lapwing-probe", "60000", Declared { probe_ms: Some(60_000), ..NOTHING }),
        ] {
            assert_eq!(read(&[(name, value)]), (expected, 0), "{name}={value}");
        }
    }

    /// Is each value outside of its range ignored and counted, and what is not ours neither?
    #[test]
    fn wrong_values_are_ignored_and_counted() {
        for (name, value) in [
            ("lapwing-ack", "Processed"),
            ("lapwing-ack", ""),
            ("lapwing-ack", "undeclared"),
            ("lapwing-workers", "0"),
            ("lapwing-workers", "1025"),
            ("lapwing-workers", "65537"),
            ("lapwing-workers", "four"),
            ("lapwing-batch", "0"),
            ("lapwing-batch", "65536"),
            ("lapwing-probe", "49"),
            ("lapwing-probe", "60001"),
            ("lapwing-probe", "4294967346"),
        ] {
            assert_eq!(read(&[(name, value)]), (NOTHING, 1), "{name}={value}");
        }
        assert_eq!(read(&[("lapwing-acks", "x"), ("LAPWING-ACK", "x"), ("lapwing-queue", "x")]), (NOTHING, 0));
    }

    /// Does the last one that can be read stand?
    #[test]
    fn the_last_readable_one_stands() {
        let (declared, ignored) =
            read(&[("lapwing-workers", "2"), ("a", "b"), ("lapwing-workers", "3"), ("lapwing-workers", "x")]);
        assert_eq!((declared, ignored), (Declared { workers: Some(3), ..NOTHING }, 1));
    }

    /// Is what was declared later in place of what was said before, and only that?
    #[test]
    fn later_declarations_go_before_earlier_ones() {
        let first = read(&[("lapwing-ack", "received"), ("lapwing-workers", "2"), ("lapwing-probe", "100")]).0;
        let later = read(&[("lapwing-ack", "processed"), ("lapwing-batch", "9")]).0;
        let both = Declared {
            acknowledges: Some(Acknowledges::Processed),
            workers: Some(2),
            batch: Some(9),
            probe_ms: Some(100),
        };
        assert_eq!(first.and_then(later), both);
        assert_eq!(both.and_then(NOTHING), both);
    }

    /// Does the group speak for who has said nothing, and for nobody else?
    #[test]
    fn the_group_speaks_for_the_silent() {
        let group = Defaults { acknowledges: Acknowledges::Processed, workers: 4 };
        assert_eq!(NOTHING.for_group(7, 20, false, UNSAID), Declaration::standard(7, 20));
        let silent = NOTHING.for_group(7, 20, true, group);
        let expected = Declaration { workers: 4, is_proxied: true, ..Declaration::processed(7, 20) };
        assert_eq!(silent, expected);
        let (declared, _) = read(&[("lapwing-ack", "received"), ("lapwing-workers", "1"), ("lapwing-batch", "100")]);
        let expected =
            Declaration { acknowledges: Acknowledges::Received, is_batch: true, ..Declaration::standard(7, 20) };
        assert_eq!(declared.for_group(7, 20, false, group), expected);
    }

    #[test]
    fn a_batch_of_one_is_none() {
        let of = |messages| Declared { batch: Some(messages), ..NOTHING }.for_group(1, 50, false, UNSAID).is_batch;
        assert_eq!((of(1), of(2)), (false, true));
    }
}
