//! The names of the strategies.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::affinity::{ByHash, Hashed, Sticky};
use crate::auto::Auto;
use crate::broke::Broke;
use crate::c3::C3;
use crate::choose::Choose;
use crate::inflight::{LeastInflight, P2c};
use crate::key_ordered::KeyOrdered;
use crate::peak_ewma::PeakEwma;
use crate::turns::{AtRandom, RoundRobin};

/// How a group chooses a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Each member by the rule that its acknowledgements allow: LEF, C3, or a fair turn.
    #[default]
    Auto,
    /// Least expected finish for all: everybody in the group acknowledges when finished.
    Lef,
    /// Peak-EWMA over all members.
    PeakEwma,
    /// C3 over all members.
    C3,
    /// In turn.
    RoundRobin,
    /// At random.
    Random,
    /// Each publisher keeps its member while that one stays.
    Sticky,
    /// By the publisher's client id.
    HashClient,
    /// By the topic.
    HashTopic,
    /// `Auto`, with the messages of one key in order.
    KeyOrdered,
    /// The member with the fewest unacknowledged messages.
    LeastInflight,
    /// The better of two at random; to compare with.
    P2c,
    /// The published rule of "Broke"; to compare with.
    Broke,
}

/// No strategy has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no strategy {got:?}; there are {}", Strategy::names())]
pub struct StrategyError {
    /// As given.
    pub got: String,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 13] = [
        Strategy::Auto,
        Strategy::Lef,
        Strategy::PeakEwma,
        Strategy::C3,
        Strategy::RoundRobin,
        Strategy::Random,
        Strategy::Sticky,
        Strategy::HashClient,
        Strategy::HashTopic,
        Strategy::KeyOrdered,
        Strategy::LeastInflight,
        Strategy::P2c,
        Strategy::Broke,
    ];

    /// The name in settings and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Auto => "auto",
            Strategy::Lef => "lef",
            Strategy::PeakEwma => "peak-ewma",
            Strategy::C3 => "c3",
            Strategy::RoundRobin => "round-robin",
            Strategy::Random => "random",
            Strategy::Sticky => "sticky",
            Strategy::HashClient => "hash-client",
            Strategy::HashTopic => "hash-topic",
            Strategy::KeyOrdered => "key-ordered",
            Strategy::LeastInflight => "least-inflight",
            Strategy::P2c => "p2c",
            Strategy::Broke => "broke",
        }
    }

    /// All names, as a message to a user has them.
    pub fn names() -> String {
        Strategy::ALL.map(Strategy::name).join(", ")
    }

    /// The rule itself, with nothing learnt.
    pub(crate) fn chooser(self) -> Box<dyn Choose> {
        match self {
            Strategy::Auto => Box::new(Auto::declared()),
            Strategy::Lef => Box::new(Auto::lef()),
            Strategy::PeakEwma => Box::new(PeakEwma),
            Strategy::C3 => Box::new(C3),
            Strategy::RoundRobin => Box::new(RoundRobin::default()),
            Strategy::Random => Box::new(AtRandom),
            Strategy::Sticky => Box::new(Sticky::new()),
            Strategy::HashClient => Box::new(ByHash(Hashed::Client)),
            Strategy::HashTopic => Box::new(ByHash(Hashed::Topic)),
            Strategy::KeyOrdered => Box::new(KeyOrdered::new()),
            Strategy::LeastInflight => Box::new(LeastInflight),
            Strategy::P2c => Box::new(P2c),
            Strategy::Broke => Box::new(Broke::default()),
        }
    }
}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(name: &str) -> Result<Strategy, StrategyError> {
        let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| StrategyError { got: name.to_owned() })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_and_a_wrong_one_is_told_all() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.name().parse(), Ok(strategy));
        }
        let error = "fastest".parse::<Strategy>().unwrap_err().to_string();
        assert!(error.starts_with("no strategy \"fastest\""), "{error}");
        assert!(Strategy::ALL.iter().all(|strategy| error.contains(strategy.name())), "{error}");
    }
}
