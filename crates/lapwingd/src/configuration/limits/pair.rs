//! One limit that is held against another, as `lapwing.config.limit_pair` has it, which says what each field means.

use serde::Deserialize;

/// One row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    pub key: String,
    pub is_floor: bool,
    pub bounds: Vec<BoundRule>,
    pub otherwise: String,
    #[serde(default = "yes")]
    pub only_set: bool,
    #[serde(default)]
    pub zero_is_any: bool,
}

/// What a limit is held against: `measure * times / over + plus`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundRule {
    pub of: Measure,
    #[serde(default)]
    pub keys: Vec<String>,
    #[serde(default = "key_and_value")]
    pub words: String,
    #[serde(default = "once")]
    pub times: i128,
    #[serde(default = "once")]
    pub over: i128,
    #[serde(default)]
    pub plus: i128,
    #[serde(default)]
    pub rounds_up: bool,
    #[serde(default)]
    pub when: Vec<When>,
}

/// What a bound begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    First,
    Sum,
    Entries,
    LargestPacket,
    TopicLevels,
    TopicBytes,
    LongestExpiry,
}

/// A bound holds only where this does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct When {
    pub test: Test,
    pub key: String,
    #[serde(default)]
    pub value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Test {
    Is,
    Set,
    Unset,
    AboveZero,
    OwnBridge,
}

fn yes() -> bool {
    true
}

fn once() -> i128 {
    1
}

fn key_and_value() -> String {
    "{key} = {shown}".into()
}
