//! Whether the folders that a broker writes into can be made and written, and are nobody else's now.

use std::path::Path;

use lapwing_node::{Config, inspect};

use crate::fault::Fault;
use crate::system::may_write;

/// Of the data folder, if one is needed, and of the audit trail.
pub(super) fn faults(config: &Config) -> Vec<Fault> {
    let needed = config.data_dir.as_deref().filter(|_| config.keeps_sessions() || !config.streams.is_empty());
    let data = needed.and_then(|folder| of_data(folder, config));
    data.into_iter().chain(config.audit.file.as_deref().and_then(|file| of_trail(file, config.audit.chain))).collect()
}

fn of_data(folder: &Path, config: &Config) -> Option<Fault> {
    let (shown, streams) = (folder.display().to_string(), config.streams.keys().cloned().collect::<Vec<String>>());
    if folder.exists() && !folder.is_dir() {
        return Some(Fault::wrong("broker.data is no folder", shown, "name a folder, or a new one"));
    }
    if !can_be_made(folder) {
        return Some(Fault::wrong(
            "broker.data cannot be written",
            shown,
            "name one that the broker may write, or let it",
        ));
    }
    if let Some(holder) = inspect::folder_holder(folder) {
        let holder = holder.map_or_else(|| "unknown".to_owned(), |process| process.to_string());
        let remedy = "stop that one, or say --running where it is the broker that this file is for";
        return Some(Fault::wrong(format!("broker.data is in use by process {holder}"), shown, remedy));
    }
    let files = || inspect::files_fault(folder, &streams, config.keeps_sessions()).map(|(what, _)| what);
    let what = inspect::folder_fault(folder).or_else(files)?;
    Some(Fault::wrong(format!("broker.data: {what}"), "", ""))
}

/// Whether a folder can be written, or made where the nearest one above it exists.
fn can_be_made(folder: &Path) -> bool {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    whole.ancestors().find(|above| above.exists()).is_some_and(|above| above.is_dir() && may_write(above))
}

fn of_trail(file: &Path, chained: bool) -> Option<Fault> {
    let shown = file.display().to_string();
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    if !whole.parent().is_some_and(|folder| folder.is_dir() && may_write(folder)) {
        let remedy = "name a file in a folder that exists and that the broker may write";
        return Some(Fault::wrong("audit.file: its folder cannot be written", shown, remedy));
    }
    let (why, _) = inspect::trail_fault(file, chained)?;
    Some(Fault::wrong(format!("audit.file: {why}"), shown, "name another file, or move it away"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what no start can write told of, each by its key, and a folder that is yet to be made in order?
    #[test]
    fn folders_that_cannot_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "x").expect("written");
        let told = |data: &Path, trail: Option<&Path>| {
            let mut config = Config { data_dir: Some(data.to_owned()), ..Config::default() };
            config.audit.file = trail.map(Path::to_owned);
            faults(&config)
                .iter()
                .map(|fault| fault.to_string().replace(&format!("{}/", folder.path().display()), ""))
                .collect::<Vec<_>>()
        };
        let new = folder.path().join("a/b");
        assert!(told(&new, None).is_empty());
        assert_eq!(told(&file, None), ["broker.data is no folder (file): name a folder, or a new one"]);
        assert!(told(&file.join("x"), None)[0].starts_with("broker.data cannot be written (file/x): "));
        assert!(
            told(&new, Some(&new.join("trail")))[0].starts_with("audit.file: its folder cannot be written (a/b/trail)")
        );
        assert!(told(&new, Some(folder.path()))[0].starts_with("audit.file: it is no file: it is a directory"));
        assert!(!new.exists(), "nothing is made");
    }
}
