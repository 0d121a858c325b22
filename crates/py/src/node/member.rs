//! A node as a member of a cluster.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_node::{ClusterTable, Config, Extensions, MakeExtensions, Member, MemberError, MemberStatus};
use pyo3::prelude::*;
use serde::Serialize;

use super::life::extensions_of;
use crate::core_error::core_error;

/// Where it stands, as Python is told.
#[derive(Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    pub(super) status: MemberStatus,
    /// Why it did not serve when it was to, at the last try.
    pub(super) hindrance: Option<String>,
}

/// What a member is started with, beside its configuration.
pub(super) struct MemberPlan {
    table: ClusterTable,
    hooks: Option<Py<PyAny>>,
    strategies: BTreeMap<String, Py<PyAny>>,
}

impl MemberPlan {
    /// Of the table `[cluster]`, and code of the user's own as `extensions_of` takes it.
    pub(super) fn new(
        table: ClusterTable,
        hooks: Option<&Bound<'_, PyAny>>,
        strategies: &BTreeMap<String, Bound<'_, PyAny>>,
    ) -> Self {
        let strategies = strategies.iter().map(|(name, chooser)| (name.clone(), chooser.clone().unbind())).collect();
        MemberPlan { table, hooks: hooks.map(|hooks| hooks.clone().unbind()), strategies }
    }

    pub(super) fn start(self, config: &Config) -> Result<Member, MemberError> {
        let MemberPlan { table, hooks, strategies } = self;
        let settings = table.settings(config.data_dir.as_deref().unwrap_or(Path::new("")))?;
        let make: MakeExtensions = Box::new(move || again(hooks.as_ref(), &strategies));
        Member::start(config.clone(), &settings, make)
    }
}

/// The same code for another serving.
fn again(hooks: Option<&Py<PyAny>>, strategies: &BTreeMap<String, Py<PyAny>>) -> Result<Extensions, String> {
    Python::attach(|py| {
        let strategies = strategies.iter().map(|(name, chooser)| (name.clone(), chooser.bind(py).clone())).collect();
        extensions_of(hooks.map(|hooks| hooks.bind(py)), strategies).map_err(|error| error.to_string())
    })
}

pub(super) fn member_error(py: Python<'_>, error: &MemberError) -> PyErr {
    core_error(py, error.code(), &error.to_string(), &error.remedy(), &[])
}

/// Another node is the one to ask.
pub(super) fn standby_error(py: Python<'_>, member: &Member) -> PyErr {
    let (what, remedy) = py.detach(|| standby_words(member));
    core_error(py, "standby", &what, &remedy, &[])
}

/// What a node says that does not serve, and what to do.
pub(super) fn standby_words(member: &Member) -> (String, String) {
    let Ok(status) = member.status() else {
        return ("this node of a cluster has ended".into(), "Look into its log.".into());
    };
    if status.role != "standby" {
        let remedy = "Wait for it: it reads what it has not applied yet, or opens its listeners.";
        let what = member.hindrance().map_or_else(
            || "this node is about to serve its cluster".to_owned(),
            |hindrance| format!("this node is to serve its cluster and cannot: {hindrance}"),
        );
        return (what, remedy.into());
    }
    match active_of(&status) {
        Some((name, addresses)) => (
            format!("this node stands by: {name} serves the cluster"),
            format!("Ask {name}, whose address for other nodes is {addresses}."),
        ),
        None => (
            "this node stands by, and knows of none that serves the cluster".into(),
            "See /v1/cluster for who is missing: more than half of all nodes must be there.".into(),
        ),
    }
}

/// Makes the stopped node's data folder that of the first member of a new cluster of this name.
#[pyfunction]
pub(crate) fn cluster_found(py: Python<'_>, config_json: &str, cluster_json: &str, name: &str) -> PyResult<()> {
    let found = || -> Result<(), MemberError> {
        let config = Config::from_json(config_json)?;
        let table = ClusterTable::from_json(cluster_json)?;
        lapwing_node::found_cluster(&config, &table.founder(name)?)
    };
    py.detach(found).map_err(|error| member_error(py, &error))
}

/// Has the empty data folder join the cluster that has made the token: the node's number, the cluster's name, and whether it
/// will vote.
#[pyfunction]
pub(crate) fn cluster_join(
    py: Python<'_>,
    config_json: &str,
    cluster_json: &str,
    token: &str,
) -> PyResult<(u8, String, bool)> {
    let join = || -> Result<_, MemberError> {
        let config = Config::from_json(config_json)?;
        let table = ClusterTable::from_json(cluster_json)?;
        lapwing_node::join_cluster(&config, token, &table.joiner()?)
    };
    let joined = py.detach(join).map_err(|error| member_error(py, &error))?;
    Ok((joined.node, joined.cluster_name, joined.is_to_vote))
}

fn active_of(status: &MemberStatus) -> Option<(String, String)> {
    let leader = status.leader.filter(|leader| *leader != status.node)?;
    let node = status.nodes.iter().find(|node| node.node == leader)?;
    Some((node.name.clone(), node.addresses.join(" or ")))
}
