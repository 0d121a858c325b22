//! Whether files are a broker's own, as the node judges it.

use std::collections::HashMap;
use std::path::PathBuf;

use lapwing_node::{Believed, FileFault, Trusted};
use pyo3::prelude::*;

/// A file, the key that names it, and whether what is in it is secret.
type File = (PathBuf, String, bool);
/// What is wrong, where the configuration says so, and what to do.
type Fault = (String, String, String);

/// Those of a configuration that decide who may what. `named`: all files that it names, by key.
#[pyfunction]
#[pyo3(signature = (file, listeners, named))]
pub(crate) fn believed_files(
    file: Option<PathBuf>,
    listeners: usize,
    named: HashMap<String, Vec<PathBuf>>,
) -> Vec<File> {
    let at = |key: &str| named.get(key).cloned().unwrap_or_default();
    let found = lapwing_node::believed_files(file.as_deref(), listeners, at);
    found.into_iter().map(|Believed { path, key, is_secret }| (path, key, is_secret)).collect()
}

/// What the broker makes itself and nobody else may: its audit trail, and folders of Unix sockets. `urls`: of all listeners.
#[pyfunction]
pub(crate) fn made_files(trail: Option<PathBuf>, urls: Vec<String>) -> Vec<File> {
    let found = lapwing_node::made_files(trail.as_deref(), urls.iter().map(String::as_str));
    found.into_iter().map(|Believed { path, key, is_secret }| (path, key, is_secret)).collect()
}

/// What others may write, and lines about what they may read. `searched`: folders in which modules are looked for, as `files`.
/// `data`: the folder where something is kept.
#[pyfunction]
#[pyo3(signature = (files, searched, data, uid, private_group))]
pub(crate) fn look_at_files(
    py: Python<'_>,
    files: Vec<File>,
    searched: Vec<File>,
    data: Option<PathBuf>,
    uid: u32,
    private_group: Option<u32>,
) -> (Vec<Fault>, Vec<String>) {
    py.detach(|| {
        let trusted = Trusted::by(uid, private_group);
        let looked = lapwing_node::look_at_files(&believed(files), &believed(searched), data.as_deref(), &trusted);
        (looked.written.into_iter().map(fault).collect(), looked.told)
    })
}

/// What lies where a file is named and is none.
#[pyfunction]
pub(crate) fn strange_kinds(py: Python<'_>, files: Vec<File>) -> Vec<Fault> {
    py.detach(|| believed(files).iter().filter_map(lapwing_node::strange_kind).map(fault).collect())
}

/// A number of this process that stands for what is in all of `files`; None: there are none.
#[pyfunction]
pub(crate) fn files_digest(py: Python<'_>, files: Vec<PathBuf>) -> Option<u64> {
    py.detach(|| lapwing_node::files_digest(&files))
}

/// What lies there, in words, where it is neither a file nor a folder; None: one of these, or nothing.
#[pyfunction]
pub(crate) fn kind_at(py: Python<'_>, path: PathBuf) -> Option<&'static str> {
    py.detach(|| lapwing_node::kind_at(&path))
}

/// Whether a group is one that has the account's name and no other member.
#[pyfunction]
pub(crate) fn is_private_group(account: &str, group: &str, members: Vec<String>) -> bool {
    lapwing_node::is_private_group(account, group, &members)
}

fn believed(files: Vec<File>) -> Vec<Believed> {
    files.into_iter().map(|(path, key, is_secret)| Believed { path, key, is_secret }).collect()
}

fn fault(fault: FileFault) -> Fault {
    (fault.what, fault.place, fault.remedy)
}
