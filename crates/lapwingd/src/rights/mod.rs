//! Whether the files that the broker believes are its own: as `lapwing.file_rights`, which says why.
//!
//! Each file with the folders and links on the way: who may write a folder can put another file in the place of this one.
//! Written by others than root and the broker's own account: refused, or told. The data folder itself likewise.

mod believed;
mod trusted;
mod verdict;
mod ways;

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use believed::{Believed, believed};
use trusted::trusted;
use verdict::{Facts, Trusted, remedy, strange_writer};

use crate::configuration::Configuration;
use crate::fault::{Fault, Faults};

const OTHERS_READ: u32 = 0o004;
const OTHERS_READ_OR_SEARCH: u32 = 0o005;
const STICKY: u32 = 0o1000;

/// What is to be told, a line each. Files that are not there are left to whoever reads them.
///
/// # Errors
/// Others may write one of them, and `broker.files` is "strict"; all of them.
pub(crate) fn look(configuration: &Configuration) -> Result<Vec<String>, Faults> {
    let (files, trusted) = (believed(configuration), trusted());
    let mut faults = Faults::default();
    let mut seen = HashSet::new();
    for file in &files {
        for path in ways::to(&file.path).into_iter().filter(|path| seen.insert(path.clone())) {
            let Some(facts) = facts_of(&path) else { continue };
            if let Some(fault) = written(file, &path, &facts, &trusted) {
                faults.push(fault);
            }
        }
    }
    let data = data_folder(configuration);
    if let Some(fault) = data.as_ref().and_then(|(path, facts)| data_written(path, facts, &trusted)) {
        faults.push(fault);
    }
    if configuration.own.is_strict {
        faults.clone().or(())?;
    }
    strange_kinds(&files)?;
    let mut told: Vec<String> = faults.iter().map(Fault::to_string).collect();
    told.extend(files.iter().filter_map(read_by_all));
    told.extend(data.and_then(|(path, facts)| data_seen(path, &facts)));
    Ok(told)
}

/// Whoever opened a pipe would wait for ever; devices have no end. The configuration itself may come from one: it has been read.
///
/// # Errors
/// Something else lies where a file is named; all of them.
fn strange_kinds(files: &[Believed]) -> Result<(), Faults> {
    let mut faults = Faults::default();
    for file in files.iter().filter(|file| file.key != "--config") {
        let is_strange = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
        if std::fs::metadata(&file.path).is_ok_and(is_strange) {
            let what = format!("{} is no file", file.key);
            faults.push(Fault::wrong(
                what,
                file.path.display().to_string(),
                "name a file: it is read again at a reload",
            ));
        }
    }
    faults.or(())
}

fn written(file: &Believed, path: &Path, facts: &Facts, trusted: &Trusted) -> Option<Fault> {
    let who = strange_writer(facts, trusted)?;
    let what = format!("{} decides what this broker does, and {who}", path.display());
    let place = format!("{} = '{}'", file.key, file.path.display());
    let remedy = format!("{}, or allow it with broker.files = \"warn\"", remedy(facts, trusted, path));
    Some(Fault::wrong(what, place, remedy))
}

fn read_by_all(file: &Believed) -> Option<String> {
    let facts = std::fs::metadata(&file.path).ok()?;
    let shown = file.path.display();
    let key = &file.key;
    let is_told = file.is_secret && facts.mode() & OTHERS_READ != 0;
    is_told.then(|| {
        format!("{shown} ({key}) holds secrets, and every user of this machine may read it: chmod o-r {shown}")
    })
}

/// The folder where something is kept; None: there is none, or it is to be made.
fn data_folder(configuration: &Configuration) -> Option<(&Path, Facts)> {
    let node = &configuration.node;
    let path = node.data_dir.as_deref().filter(|_| node.keeps_sessions() || !node.streams.is_empty())?;
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    Some((path, Facts::of(&found)))
}

fn data_written(path: &Path, facts: &Facts, trusted: &Trusted) -> Option<Fault> {
    // The sticky bit keeps others from what lies in a folder, and not from putting something there.
    let facts = Facts { mode: facts.mode & !STICKY, ..*facts };
    let who = strange_writer(&facts, trusted)?;
    let what = format!("{} holds what this broker keeps, and {who}", path.display());
    let mended = remedy(&facts, trusted, path);
    let remedy = format!("{mended}, name a new folder in it, or allow it with broker.files = \"warn\"");
    Some(Fault::wrong(what, "broker.data", remedy))
}

fn data_seen(path: &Path, facts: &Facts) -> Option<String> {
    let shown = path.display();
    let what = "holds what clients have sent, and every user of this machine may look into it";
    (facts.mode & OTHERS_READ_OR_SEARCH != 0).then(|| format!("{shown} (broker.data) {what}: chmod o-rwx {shown}"))
}

/// What counts of a file, folder or symbolic link; None: there is none, or nobody tells.
fn facts_of(path: &Path) -> Option<Facts> {
    path.symlink_metadata().ok().map(|found| Facts::of(&found))
}
