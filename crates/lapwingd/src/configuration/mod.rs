//! From a file, the environment and flags to a node's configuration. Paths, units, bounds and places: `model.json`.

mod convert;
mod file;
mod forms;
mod idle;
mod layers;
mod limits;
mod listeners;
mod meant;
mod model;
mod own;
mod places;
mod profile;
mod refused;
mod scalars;
mod tree;
mod units;

use std::path::PathBuf;

use lapwing_node::{Config, NodeError};
use serde_json::{Map, Value as Json};

use crate::access::{self, Access};
use crate::arguments::Arguments;
use crate::fault::{Fault, Faults};
use crate::key_files::KeyFiles;
use crate::{entrance, http};

pub(crate) use file::parse;
pub(crate) use model::Model;
pub(crate) use own::{LogSettings, Own, Rest};
pub(crate) use tree::{Table, Value};

/// A configuration, read and checked.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// Where it was read from, if from a file.
    pub file: Option<PathBuf>,
    /// That file, as it was.
    pub text: String,
    /// What the node is started with.
    pub node: Config,
    /// Users, rules and whom else to ask, as the node has them.
    pub access: Access,
    /// Tables of topics and groups as the node has them, for what a reload changes.
    pub topics: Json,
    pub groups: Map<String, Json>,
    /// Health and metrics; None: nowhere.
    pub http: Option<http::Settings>,
    /// What was in the files of its listeners.
    pub key_files: KeyFiles,
    /// What is not the node's.
    pub own: Own,
}

/// Reads file < environment < flags, and the files of users and keys that they name.
///
/// # Errors
/// All that is wrong, each with its key, place and remedy.
pub(crate) fn load(arguments: &Arguments) -> Result<Configuration, Faults> {
    let variables = std::env::vars_os();
    let variables = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    load_over(arguments, layers::environment(variables)?)
}

/// The same with what the environment says.
fn load_over(arguments: &Arguments, environment: Table) -> Result<Configuration, Faults> {
    let model = Model::built_in();
    let read = arguments.config.as_deref().map(file::read).transpose()?.unwrap_or_default();
    let mut tree = read.table;
    tree::lay_over(&mut tree, environment);
    tree::lay_over(&mut tree, layers::flags(arguments)?);
    let tree = profile::under(tree, &model);
    let mut faults = refused::refuse(&tree).err().unwrap_or_default();
    let mut converted = match convert::convert(&tree, &model) {
        Ok(converted) => converted,
        Err(others) => {
            faults.add(others);
            return Err(faults);
        }
    };
    faults.add(refused::refuse_http(&tree, &converted.own, &model).err().unwrap_or_default());
    faults.add(listeners::settle(&mut converted.node, &tree, &model).err().unwrap_or_default());
    faults.or(())?;
    let mut faults = limits::check(&converted, &tree, &model).err().unwrap_or_default();
    faults.add(idle::check(&converted.own, &tree, &model).err().unwrap_or_default());
    let (mut node, own) = (converted.node, Own::of(converted.own));
    let access = match access::read(&own.rest, &mut node, &model) {
        Ok(access) => access,
        Err(others) => {
            faults.add(others);
            return Err(faults);
        }
    };
    let (topics, groups) = (part(&node, "topics"), part(&node, "groups"));
    let config: Config = serde_json::from_value(Json::Object(node)).map_err(|error| {
        // Names, bounds and types are the model's, which a test holds against the node.
        Fault::wrong(format!("the node does not take this configuration: {error}"), "", "correct the value named")
    })?;
    faults.add(entrance::check(&config, |key| places::place(&tree, key)).err().unwrap_or_default());
    faults.or(())?;
    config.check().map_err(|error| of_check(&error, &tree))?;
    let http = http::Settings::of(&own.rest)?;
    let groups = groups.as_object().cloned().unwrap_or_default();
    Ok(Configuration {
        file: arguments.config.clone(),
        text: read.text,
        key_files: KeyFiles::of(&config.listeners),
        node: config,
        access,
        topics,
        groups,
        http,
        own,
    })
}

/// What the node says of its settings, with where the key was set.
fn of_check(error: &NodeError, tree: &Table) -> Fault {
    let fault = Fault::of_node(error);
    match error {
        NodeError::Config { key, .. } => fault.at(places::place_of_node(tree, key).unwrap_or_default()),
        _ => fault,
    }
}

fn part(node: &Map<String, Json>, name: &str) -> Json {
    node.get(name).cloned().unwrap_or_default()
}

#[cfg(test)]
pub(crate) fn load_file(file: &std::path::Path) -> Result<Configuration, Faults> {
    load_over(&Arguments { config: Some(file.to_owned()), ..Arguments::default() }, Table::new())
}
