//! Is a data folder whole?

use std::path::Path;
use std::sync::Arc;

use lapwing_store::disk::{Disk, OsDisk, Overlay};
use lapwing_store::inspect::{DataFolder, FolderGuard, Home, Severity};
use lapwing_store::journal::{DataGroupId, Journal, JournalConfig, JournalReader};
use serde_json::{Value, json};

use super::dangling::Dangling;
use super::{InspectError, Tell, words};
use crate::data_groups::DataGroups;
use crate::error::NodeError;
use crate::slot::DATA_GROUPS;
use crate::start_progress::StartProgress;

/// How many files were found, and how many of them not as they should be.
#[derive(Default)]
pub(super) struct Verdict {
    files: u64,
    bytes: u64,
    pub(super) damaged: u64,
    mends: u64,
}

/// Reads every file of a data folder from end to end, then makes the state of every data group as a start would, in memory
/// only. Tells `begin`, then each `file` and each `group`, then the `result`. False: something is damaged.
///
/// # Errors
/// `Usage`: a broker uses it, it is no data folder, or it cannot be read.
pub fn check(dir: &Path, tell: Tell<'_>) -> Result<bool, InspectError> {
    let looked = FolderGuard::shared(dir).map_err(InspectError::from).and_then(|_guard| check_locked(dir, tell));
    looked.map(|verdict| verdict.damaged == 0).map_err(InspectError::of_looking)
}

/// The same for a folder that nobody else writes.
pub(super) fn check_locked(dir: &Path, tell: Tell<'_>) -> Result<Verdict, InspectError> {
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let mut folder = DataFolder::open(disk.clone(), dir)?;
    let files = folder.files().to_vec();
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    let mut verdict = Verdict::default();
    if tell(json!({"event": "begin", "files": files.len(), "bytes": bytes})).is_break() {
        return Ok(verdict);
    }
    let mut journal_is_whole = true;
    for file in &files {
        let report = folder.check(file)?;
        journal_is_whole &= !(report.is_damaged() && file.home == Home::Journal);
        verdict.count(report.bytes, report.findings.iter().map(|finding| finding.severity));
        if tell(words::file(&report)).is_break() {
            return Ok(verdict);
        }
    }
    if folder.has_journal() {
        match journal_is_whole {
            true => verdict.groups(disk, dir, tell)?,
            false => drop(tell(groups_unseen("not looked at: the journal is damaged", Severity::Note))),
        }
    }
    // That was all: whether it breaks off makes no difference.
    let _ = tell(verdict.told());
    Ok(verdict)
}

fn groups_unseen(what: &str, severity: Severity) -> Value {
    let finding = json!({"severity": severity.name(), "at": 0, "bytes": 0, "what": what});
    json!({"event": "groups", "findings": [finding]})
}

impl Verdict {
    fn count(&mut self, bytes: u64, severities: impl Iterator<Item = Severity>) {
        self.files += 1;
        self.bytes += bytes;
        let worst = severities.max();
        self.damaged += u64::from(worst == Some(Severity::Damage));
        self.mends += u64::from(worst == Some(Severity::Mends));
    }

    fn told(&self) -> Value {
        let Self { files, bytes, damaged, mends } = self;
        json!({"event": "result", "files": files, "bytes": bytes, "damaged": damaged, "mends": mends})
    }

    /// Makes the groups' states, on a disk on which nothing changes.
    fn groups(&mut self, disk: Arc<dyn Disk>, dir: &Path, tell: Tell<'_>) -> Result<(), InspectError> {
        let config = JournalConfig { body_bytes_max: usize::MAX, ..JournalConfig::default() };
        let opened = Journal::open_on(Arc::new(Overlay::new(disk)), dir, &config).map_err(NodeError::from);
        let recovered =
            opened.and_then(|(_, reader)| Ok((DataGroups::recover(&reader, &StartProgress::default())?.0, reader)));
        let (data_groups, reader) = match recovered {
            Ok(recovered) => recovered,
            Err(error) => {
                self.damaged += 1;
                let _ = tell(groups_unseen(&error.to_string(), Severity::Damage));
                return Ok(());
            }
        };
        for data_group in 0..DATA_GROUPS {
            let told = self.group(&reader, &data_groups, data_group)?;
            if tell(told).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn group(
        &mut self,
        reader: &JournalReader,
        data_groups: &DataGroups,
        data_group: u16,
    ) -> Result<Value, InspectError> {
        let state = data_groups.get(data_group);
        let log = reader.group(DataGroupId(data_group))?;
        let dangling = Dangling::find(reader, &state, data_group)?;
        let what = "refers to what the log does not have; lapwing store repair tells what it is";
        let finding = || json!({"severity": Severity::Damage.name(), "at": 0, "bytes": 0, "what": what});
        let findings = if dangling.is_empty() { vec![] } else { vec![finding()] };
        self.damaged += findings.len() as u64;
        Ok(json!({
            "event": "group", "group": data_group, "last_index": log.last_index, "snapshot_index": log.purged_index,
            "sessions": state.sessions().count(), "queued": state.queued(), "retained": state.retained().count(),
            "consumer_groups": state.groups().count(), "strays": state.strays(), "lost": state.lost(),
            "findings": findings,
        }))
    }
}
