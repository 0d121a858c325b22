//! Copies of a data folder, each verified before it gets its name.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use lapwing_store::disk::OsDisk;
use lapwing_store::inspect::{DataFolder, FolderGuard, copy_folder};
use serde_json::json;

use super::check::check_locked;
use super::draft::{Draft, folder_of};
use super::{InspectError, Tell};

/// Copies a data folder, also while a broker uses it: the copy has all that was acknowledged before the call. Tells
/// `copied` for each file, then what a check of the copy tells. False: it was broken off, and nothing is left of it. What a
/// copy to the same place has left whose process was killed is removed.
///
/// # Errors
/// `Usage`: `from` is no data folder, or something lies at `to`. `Refused`: what was copied is damaged; nothing is left of the
/// copy. Anything else: it cannot be read or written.
pub fn backup(from: &Path, to: &Path, tell: Tell<'_>) -> Result<bool, InspectError> {
    DataFolder::find(from)?;
    check_target(from, to)?;
    let draft = Draft::take(to)?;
    match copy_to(from, &draft.copy(), tell)? {
        true => draft.name(to).map(|()| true),
        false => Ok(false),
    }
}

/// Makes a data folder of a copy; as `backup`, for a source that nobody writes.
///
/// # Errors
/// As `backup`.
pub fn restore(from: &Path, to: &Path, tell: Tell<'_>) -> Result<bool, InspectError> {
    let _guard = FolderGuard::shared(from)?;
    backup(from, to, tell)
}

/// Refuses what cannot become the copy, before anything is copied.
fn check_target(from: &Path, to: &Path) -> Result<(), InspectError> {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if full(to).starts_with(full(from)) {
        let what = format!("{} lies in the folder that is to be copied", to.display());
        return Err(InspectError::usage(what, "name another place"));
    }
    let Some((found, remedy)) = hindrance(to) else { return Ok(()) };
    Err(InspectError::usage(format!("{} is {found}", to.display()), remedy))
}

/// What lies at a place that the copy is to take, if that is no empty folder, and what to do.
fn hindrance(to: &Path) -> Option<(&'static str, &'static str)> {
    const ANOTHER: &str = "name a folder that is not there yet, or an empty one";
    // Of what cannot be looked at, the attempt tells more.
    let found = fs::symlink_metadata(to).ok()?;
    if found.is_symlink() {
        return Some(("a link", "name the folder itself, or another one"));
    }
    if !found.is_dir() {
        return Some(("a file", ANOTHER));
    }
    // The copy is made beside it, on another file system, and could not take its place.
    if fs::metadata(folder_of(to)).is_ok_and(|around| around.dev() != found.dev()) {
        return Some(("where a file system is mounted", "name a folder in it"));
    }
    let is_empty = fs::read_dir(to).map_or(true, |mut entries| entries.next().is_none());
    (!is_empty).then_some(("not empty", ANOTHER))
}

fn copy_to(from: &Path, draft: &Path, tell: Tell<'_>) -> Result<bool, InspectError> {
    let done = copy_folder(&OsDisk, from, draft, &mut |path, bytes| {
        tell(json!({"event": "copied", "path": path.to_string_lossy(), "bytes": bytes}))
    })?;
    if !done {
        return Ok(false);
    }
    let (mut damage, mut broken_off) = (None, false);
    let verdict = check_locked(draft, &mut |told| {
        for finding in told["findings"].as_array().into_iter().flatten() {
            if finding["severity"] == "damage" && damage.is_none() {
                let place = told["path"].as_str().unwrap_or("the data groups");
                damage = Some(format!("{place}: {}", finding["what"].as_str().unwrap_or_default()));
            }
        }
        let flow = tell(told);
        broken_off |= flow.is_break();
        flow
    })?;
    if broken_off {
        return Ok(false);
    }
    match verdict.damaged {
        0 => Ok(true),
        _ => {
            let what = format!("what was copied is damaged: {}", damage.unwrap_or_default());
            let remedy = "lapwing store check tells all of it, lapwing store repair what can be done; nothing was kept of the copy";
            Err(InspectError::refused(what, remedy))
        }
    }
}
