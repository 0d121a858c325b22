//! Who is told of publishers, as far as no rule says it.

use serde::{Deserialize, Serialize};

/// The note on its publisher that a message carries inside the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvelopeConfig {
    /// From when on messages carry it.
    pub stamp: StampPolicy,
}

/// From when on messages carry a note on their publisher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StampPolicy {
    /// From when the first client that may be told asks for it, and from then on for good.
    #[default]
    Asked,
    /// From the start.
    Always,
    /// Never: nobody is told.
    Never,
}
