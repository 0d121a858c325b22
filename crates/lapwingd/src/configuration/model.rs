//! The keys there are, as `tools/lapwingd_model.py` prints them from the model in Python.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::forms::Form;
use super::limits::{Pair, TopicPlace};

const TEXT: &str = include_str!("model.json");

/// All of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// By name.
    pub sections: BTreeMap<String, Key>,
    /// Named sets of defaults, as they would stand in a file.
    pub profiles: BTreeMap<String, BTreeMap<String, BTreeMap<String, Value>>>,
    /// The first line of a file of users that `lapwing user` has written.
    pub users_head: String,
    /// Its last line.
    pub users_last_line: String,
    /// What it may have.
    pub users_bytes_max: u64,
    /// Which limits are held against each other.
    pub limit_pairs: Vec<Pair>,
    /// Where topics stand that limits are held against.
    pub topic_places: Vec<TopicPlace>,
}

/// One key.
#[derive(Debug, Deserialize)]
pub(crate) struct Key {
    /// What it takes.
    #[serde(flatten)]
    pub kind: Kind,
    /// "off" and an empty text are none.
    #[serde(default)]
    pub off: bool,
    /// It has no default.
    #[serde(default)]
    pub required: bool,
    /// In the node's units.
    #[serde(default)]
    pub default: Value,
    /// Where it goes in the node's configuration, or in its entry of a list or a table of names. None: it is not the node's.
    #[serde(default)]
    pub to: Option<Vec<String>>,
}

/// What a value is written as. Bounds are inclusive: of numbers, of a text's characters, of a list's entries.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Kind {
    Flag,
    Whole(Bounds),
    Number,
    Text {
        #[serde(flatten)]
        bounds: Bounds,
        #[serde(default)]
        form: Option<Form>,
    },
    Choice {
        of: Vec<String>,
    },
    /// Bytes.
    Size(Bounds),
    /// A duration in whole milliseconds.
    Ms(Bounds),
    /// A duration in whole seconds.
    S(Bounds),
    Path,
    List {
        of: Box<Kind>,
        /// One text is a list of it.
        #[serde(default)]
        one: bool,
        #[serde(flatten)]
        bounds: Bounds,
    },
    Named {
        of: Box<Kind>,
        /// Those that there may be; none: any.
        #[serde(default)]
        names: Vec<String>,
        /// What each must be.
        #[serde(default)]
        name_form: Option<Form>,
        #[serde(flatten)]
        bounds: Bounds,
    },
    Table {
        keys: BTreeMap<String, Key>,
    },
    /// A section of which only the package knows.
    Package,
}

/// From the least to the most.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Bounds {
    #[serde(default)]
    pub least: Option<i64>,
    #[serde(default)]
    pub most: Option<i64>,
}

impl Bounds {
    /// What is wrong with a number, in words.
    pub(crate) fn problem(self, number: i64) -> Option<String> {
        match (self.least, self.most) {
            (Some(least), Some(most)) if !(least..=most).contains(&number) => Some(format!("{least} to {most}")),
            (Some(least), None) if number < least => Some(format!("{least} or more")),
            (None, Some(most)) if number > most => Some(format!("{most} or less")),
            _ => None,
        }
    }
}

impl Model {
    /// The keys of a table of which there is one, named by its key with dots.
    pub(super) fn keys_of(&self, table: &str) -> Option<&BTreeMap<String, Key>> {
        table.split('.').try_fold(&self.sections, |keys, name| match &keys.get(name)?.kind {
            Kind::Table { keys } => Some(keys),
            _ => None,
        })
    }

    /// The one that was built in.
    pub(crate) fn built_in() -> Self {
        serde_json::from_str(TEXT).expect("the model that was built in is read by a test")
    }
}
