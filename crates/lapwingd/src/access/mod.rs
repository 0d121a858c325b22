//! Users, rules, and whom else to ask: the part of a configuration that is read of files on its way to the node.

mod asked;
mod secret_files;
mod tokens;
mod users;

use serde_json::{Map, Value as Json, json};

use crate::configuration::{Model, Rest};
use crate::fault::Faults;

/// As the node has it: `{"auth": {...}, "rules": [...]}`. Not shown: hashes and secrets are in it.
#[derive(Clone, PartialEq)]
pub(crate) struct Access(pub Json);

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Access(not shown)")
    }
}

impl Access {
    /// Whether rules decide who may do what.
    pub(crate) fn has_rules(&self) -> bool {
        self.0["rules"].as_array().is_some_and(|rules| !rules.is_empty())
    }
}

/// Reads the files, and puts what they say into the node's configuration.
///
/// # Errors
/// A file cannot be used; names it, and nothing of what is in it.
pub(crate) fn read(own: &Rest, node: &mut Map<String, Json>, model: &Model) -> Result<Access, Faults> {
    let users = own.file("auth.users").map(|file| users::read(&file, model)).transpose()?;
    let (tokens, asked) = (tokens::table(own)?, asked::table(own)?);
    let auth = node.entry("auth").or_insert_with(|| json!({}));
    if let Some(auth) = auth.as_object_mut() {
        auth.insert("users".into(), users.into());
        auth.insert("jwt".into(), tokens);
        auth.insert("outside".into(), asked);
    }
    Ok(Access(json!({ "auth": node.get("auth"), "rules": node.get("rules") })))
}
