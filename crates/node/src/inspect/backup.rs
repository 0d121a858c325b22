//! Copies of a data folder, each verified before it gets its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lapwing_store::StoreError;
use lapwing_store::disk::{Disk, OsDisk};
use lapwing_store::inspect::{FolderGuard, copy_folder};
use serde_json::json;

use super::check::check_locked;
use super::{InspectError, Tell};

/// Copies a data folder, also while a broker uses it: the copy has all that was acknowledged before the call. Tells
/// `copied` for each file, then what a check of the copy tells. False: it was broken off, and nothing is left of it.
///
/// # Errors
/// `Usage`: `from` is no data folder, or something lies at `to`. `Refused`: what was copied is damaged; nothing is left of the
/// copy. Anything else: it cannot be read or written.
pub fn backup(from: &Path, to: &Path, tell: Tell<'_>) -> Result<bool, InspectError> {
    let draft = draft_for(from, to)?;
    let copied = copy_to(from, &draft, tell).and_then(|done| match done {
        true => name(&draft, to).map(|()| true),
        false => Ok(false),
    });
    if !matches!(copied, Ok(true)) {
        // The first error is what counts; what stays of the draft is named by the next try.
        let _ = fs::remove_dir_all(&draft);
    }
    copied
}

/// Makes a data folder of a copy; as `backup`, for a source that nobody writes.
///
/// # Errors
/// As `backup`.
pub fn restore(from: &Path, to: &Path, tell: Tell<'_>) -> Result<bool, InspectError> {
    let _guard = FolderGuard::shared(from)?;
    backup(from, to, tell)
}

/// The folder in which the copy is made, beside the one that it becomes.
fn draft_for(from: &Path, to: &Path) -> Result<PathBuf, InspectError> {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if full(to).starts_with(full(from)) {
        let what = format!("{} lies in the folder that is to be copied", to.display());
        return Err(InspectError::usage(what, "name another place"));
    }
    if !is_vacant(to) {
        let what = format!("{} is not empty", to.display());
        return Err(InspectError::usage(what, "name a folder that is not there yet, or an empty one"));
    }
    let Some(last) = to.file_name() else {
        return Err(InspectError::usage(format!("{} is no folder's name", to.display()), "name a folder"));
    };
    let draft = to.with_file_name(format!("{}.partial", last.to_string_lossy()));
    if !is_vacant(&draft) {
        let what = format!("{} is left of a copy that was broken off", draft.display());
        return Err(InspectError::usage(what, "remove it, then try again"));
    }
    Ok(draft)
}

/// Nothing is there, or a folder without anything in it.
fn is_vacant(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
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

fn name(draft: &Path, to: &Path) -> Result<(), InspectError> {
    let failed = |source| {
        let (operation, file) = ("name the copy", to.to_path_buf());
        InspectError::from(StoreError::Io { operation, file, source })
    };
    fs::rename(draft, to).map_err(failed)?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    OsDisk.sync_dir(parent).map_err(failed)
}
