//! The settings of the check elsewhere as they are handed over.

use serde::{Deserialize, Serialize};

/// Whom to ask, within which bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideConfig {
    /// `https://` or, where `plain` says so, `http://`.
    pub url: String,
    /// Authorities in PEM; `None`: those of the system.
    #[serde(default)]
    pub ca: Option<String>,
    /// `http://` beyond loopback is meant.
    #[serde(default)]
    pub plain: bool,
    /// What stands in `Authorization`; not shown.
    #[serde(default)]
    pub authorization: Option<crate::SecretText>,
    /// One question takes at most this.
    pub timeout_ms: u64,
    /// Questions under way at one time.
    pub in_flight_max: u32,
    /// More of an answer is not read.
    pub answer_bytes_max: u64,
    /// An answer that says nothing of it is remembered so long; 0: not at all.
    pub ttl_ms: u64,
    /// No answer is remembered longer.
    pub ttl_ms_max: u64,
    /// A refusal is remembered so long; 0: not at all.
    pub refused_ttl_ms: u64,
    /// Answers that are remembered.
    pub remembered_max: u32,
    /// Names that answers may give, with `*` for any characters.
    pub names: String,
}
