//! Tables of the configuration that must say the same at every node, or the same message would be treated in two ways.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::ids::TableHash;

/// By name, in the order in which they are compared.
pub const TABLES: [&str; 5] = ["groups", "hold", "topics", "auth", "rules"];

/// The hash of each of [`TABLES`], of its values as they are in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tables(BTreeMap<String, TableHash>);

impl Tables {
    /// From a hash for each.
    pub fn new(hashes: [TableHash; TABLES.len()]) -> Self {
        Tables(TABLES.iter().map(|name| (*name).to_owned()).zip(hashes).collect())
    }

    /// The first that is another one in `theirs`; a table that only one of the two has is another one.
    pub fn first_difference(&self, theirs: &Tables) -> Option<&'static str> {
        TABLES.into_iter().find(|name| self.0.get(*name) != theirs.0.get(*name))
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        match self.0.keys().find(|name| !TABLES.contains(&name.as_str())) {
            Some(name) => Err(Fault::Malformed { what: format!("there is no table {name:?}") }),
            None => Ok(()),
        }
    }
}
