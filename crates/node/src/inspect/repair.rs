//! Putting a data folder right: what a start would mend anyway, and what somebody is ready to lose.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use lapwing_ledger::Lost;
use lapwing_store::disk::{Disk, OsDisk, Overlay};
use lapwing_store::inspect::{
    DataFolder, FileKind, FileReport, FolderGuard, Home, KnownFile, Loss, LostRange, Severity, Started,
};
use lapwing_store::journal::{DataGroupId, JournalReader, JournalWriter};
use lapwing_store::{Notice, StoreError};
use serde_json::{Value, json};

use super::dangling::Dangling;
use super::{InspectError, Tell, words};
use crate::data_groups::DataGroups;
use crate::slot::DATA_GROUPS;
use crate::start_progress::StartProgress;

/// What may be done.
#[derive(Clone, Debug, Default)]
pub struct RepairWanted {
    /// Segments whose damaged records may be given up: their paths, or their names where there is one of that name.
    pub accept_loss_of: Vec<String>,
    /// Only tell what would be done.
    pub trial: bool,
}

/// How many remains of lost records are told.
const REMAINS_MAX: usize = 20;

/// Puts a data folder right: cuts torn tails, makes indexes again, removes what a crash has left. What was acknowledged is
/// not touched; damage is given up only in the segments named, and told as `loss` and `dropped`. Ends with `result`. False:
/// something is damaged, told as `damage`, and nothing was changed.
///
/// # Errors
/// `Usage`: a broker uses the folder, it is none, or there is no such segment. `Refused`: it cannot be done without losing
/// more. Anything else: it cannot be read or written.
pub fn repair(dir: &Path, wanted: &RepairWanted, tell: Tell<'_>) -> Result<bool, InspectError> {
    let os: Arc<dyn Disk> = Arc::new(OsDisk);
    // Before its lock is taken, which makes a file: is it a data folder at all?
    let looking = look(dir).map_err(|error| InspectError::from(error).of_looking())?;
    let trial = |tell: Tell<'_>| {
        let disk: Arc<dyn Disk> = Arc::new(Overlay::new(os.clone()));
        Repair { dir, disk, tell, changed: 0, lost: 0 }.run(&wanted.accept_loss_of)
    };
    if wanted.trial {
        return trial(tell);
    }
    drop(looking);
    let _guard = FolderGuard::exclusive(dir)?;
    // Nothing is begun that cannot be ended.
    let mut told = vec![];
    let tried = trial(&mut |event| {
        told.push(event);
        ControlFlow::Continue(())
    });
    if !matches!(tried, Ok(true)) {
        // Whether anybody breaks off makes no difference now.
        for event in told {
            let _ = tell(event);
        }
        return tried;
    }
    Repair { dir, disk: os.clone(), tell, changed: 0, lost: 0 }.run(&wanted.accept_loss_of)
}

fn look(dir: &Path) -> Result<FolderGuard, StoreError> {
    let looking = FolderGuard::shared(dir)?;
    DataFolder::find(dir).map(|()| looking)
}

struct Repair<'r> {
    dir: &'r Path,
    disk: Arc<dyn Disk>,
    tell: Tell<'r>,
    changed: u64,
    lost: u64,
}

/// A file and what is wrong with it.
type Looked = (KnownFile, FileReport);

impl Repair<'_> {
    fn run(mut self, names: &[String]) -> Result<bool, InspectError> {
        let mut folder = DataFolder::open(self.disk.clone(), self.dir)?;
        let accepted = named(&folder, self.dir, names)?;
        let looked = self.look(&mut folder)?;
        let is_accepted = |file: &KnownFile| accepted.iter().any(|one| one.path == file.path);
        let refused: Vec<&Looked> =
            looked.iter().filter(|(file, report)| report.is_damaged() && !is_accepted(file)).collect();
        if !refused.is_empty() {
            refused.iter().for_each(|(_, report)| self.say(damage(report)));
            self.result(refused.len());
            return Ok(false);
        }
        for file in &accepted {
            match folder.accept_loss(&*self.disk, file, &Lost::filling)? {
                Some(loss) => self.lose(&folder, file, &loss),
                None => self.say(json!({"event": "whole", "path": file.path.to_string_lossy()})),
            }
        }
        // What it says of the files has changed.
        let folder = DataFolder::open(self.disk.clone(), self.dir)?;
        self.indexes(&folder, &looked, &accepted)?;
        let drafts = looked.iter().filter(|(file, report)| file.kind == FileKind::Draft && mends(report));
        for (file, _) in drafts {
            self.mended(format!("removed {}, which a crash had left", file.path.display()));
        }
        let started = folder.start(self.disk.clone())?;
        self.groups(started, !accepted.is_empty())?;
        self.result(0);
        Ok(true)
    }

    /// Reads every file.
    fn look(&mut self, folder: &mut DataFolder) -> Result<Vec<Looked>, InspectError> {
        let files = folder.files().to_vec();
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        self.say(json!({"event": "begin", "files": files.len(), "bytes": bytes}));
        let mut looked = vec![];
        for file in files {
            let report = folder.check(&file)?;
            self.say(words::file(&report));
            looked.push((file, report));
        }
        Ok(looked)
    }

    /// Indexes of streams are made again; those of the journal go, and are made when it is opened.
    fn indexes(&mut self, folder: &DataFolder, looked: &[Looked], accepted: &[KnownFile]) -> Result<(), InspectError> {
        for (file, report) in looked {
            let is_accepted = accepted.iter().any(|one| one.path == file.path);
            let is_wrong = matches!(file.kind, FileKind::Index | FileKind::Segment) && mends(report);
            if is_wrong && file.kind == FileKind::Index && file.home == Home::Journal {
                let path = self.dir.join(&file.path);
                let removed = self.disk.remove(&path);
                removed.map_err(|source| StoreError::Io { operation: "remove", file: path, source })?;
                continue;
            }
            if (is_wrong || is_accepted) && folder.remake_index(&*self.disk, file)? {
                self.mended(format!(
                    "made the index of segment {} of a stream again ({})",
                    file.number,
                    file.path.display()
                ));
            }
        }
        Ok(())
    }

    /// What opening has mended; then references to what is lost are taken back.
    fn groups(&mut self, started: Started, may_lose: bool) -> Result<(), InspectError> {
        let mut notices = started.reader.take_notices();
        let journal = started.journal;
        notices.extend(journal.iter().flat_map(|(_, reader)| reader.take_notices()));
        for notice in notices.iter().filter(|notice| !matches!(notice, Notice::Unconfigured { .. })) {
            self.mended(notice.to_string());
        }
        let Some((mut writer, reader)) = journal else { return Ok(()) };
        for data_group in 0..DATA_GROUPS {
            self.go_on_behind_snapshot(&mut writer, &reader, DataGroupId(data_group))?;
        }
        let (data_groups, _) = DataGroups::recover(&reader, &StartProgress::default())?;
        for data_group in 0..DATA_GROUPS {
            let dangling = Dangling::find(&reader, &data_groups.get(data_group), data_group)?;
            if dangling.is_empty() {
                continue;
            }
            dangling.told().into_iter().for_each(|told| self.say(told));
            if !may_lose {
                let what = format!("data group {data_group} refers to messages that the log does not have");
                let remedy =
                    "give --accept-loss-of with the segment they were in, or restore the data folder from a backup";
                return Err(InspectError::refused(what, remedy));
            }
            dangling.settle(&mut writer, &reader)?;
            self.changed += 1;
        }
        Ok(())
    }

    /// Where the end of a data group is lost and its snapshot has it: the indexes of what was there are not given again.
    fn go_on_behind_snapshot(
        &mut self,
        writer: &mut JournalWriter,
        reader: &JournalReader,
        data_group: DataGroupId,
    ) -> Result<(), InspectError> {
        let Some(snapshot) = reader.snapshot(data_group)? else { return Ok(()) };
        let (last, index) = (reader.group(data_group)?.last_index, snapshot.index());
        if index > last {
            writer.purge(data_group, index, snapshot.term())?;
            writer.commit()?;
            self.mended(format!(
                "data group {} ended at {last}: it goes on behind its snapshot at {index}",
                data_group.0
            ));
        }
        Ok(())
    }

    fn lose(&mut self, folder: &DataFolder, file: &KnownFile, loss: &Loss) {
        let stream = match file.home {
            Home::Stream(place) => folder.streams().nth(place),
            Home::Journal | Home::Root => None,
        };
        let whose = if stream.is_some() { "partition" } else { "group" };
        let range = |range: &LostRange| json!({whose: range.partition, "first": range.first, "last": range.last});
        let ranges = merged(&loss.ranges);
        let count: u64 = ranges.iter().map(|range| range.last - range.first + 1).sum();
        let meaning =
            |body: &[u8]| if stream.is_some() { words::message(body, false) } else { words::entry(body, false) };
        let remains = loss.remains.iter().map(|remains| meaning(&remains.body));
        let remains: Vec<Value> = remains.filter(|said| said["entry"] != "unreadable").take(REMAINS_MAX).collect();
        self.changed += 1;
        self.lost += count;
        self.say(json!({
            "event": "loss", "path": file.path.to_string_lossy(), "stream": stream, "bytes": loss.bytes, "count": count,
            "lost": ranges.iter().map(range).collect::<Vec<_>>(), "perhaps_more": loss.is_open_ended, "remains": remains,
        }));
    }

    fn mended(&mut self, what: String) {
        self.changed += 1;
        self.say(json!({"event": "mended", "what": what}));
    }

    fn result(&mut self, damaged: usize) {
        let (changed, lost) = (self.changed, self.lost);
        self.say(json!({"event": "result", "damaged": damaged, "changed": changed, "lost": lost}));
    }

    /// Half of a repair is worse than all of it: nobody breaks it off.
    fn say(&mut self, told: Value) {
        let _ = (self.tell)(told);
    }
}

fn mends(report: &FileReport) -> bool {
    report.findings.iter().any(|finding| finding.severity == Severity::Mends)
}

fn damage(report: &FileReport) -> Value {
    let findings = report.findings.iter().filter(|finding| finding.severity == Severity::Damage);
    let findings: Vec<Value> = findings.map(words::finding).collect();
    let is_segment = matches!(report.kind, FileKind::Segment | FileKind::Kept);
    let path = report.path.to_string_lossy();
    json!({"event": "damage", "path": path, "kind": report.kind.name(), "is_segment": is_segment, "findings": findings})
}

/// The segments of these names.
fn named(folder: &DataFolder, dir: &Path, names: &[String]) -> Result<Vec<KnownFile>, InspectError> {
    let mut found = vec![];
    for name in names {
        let given = Path::new(name);
        let is_it = |file: &&KnownFile| {
            file.path == given || dir.join(&file.path) == given || file.path.file_name() == Some(given.as_os_str())
        };
        let of_kind = |file: &&KnownFile| matches!(file.kind, FileKind::Segment | FileKind::Kept);
        let matching: Vec<&KnownFile> = folder.files().iter().filter(of_kind).filter(is_it).collect();
        match matching[..] {
            [one] => found.push(one.clone()),
            [] => {
                let what = format!("there is no segment {name} in {}", dir.display());
                return Err(InspectError::usage(
                    what,
                    "lapwing store check names those that are damaged, as log/00000000000000000001.log",
                ));
            }
            _ => {
                let what = format!("there are several segments {name} in {}", dir.display());
                return Err(InspectError::usage(
                    what,
                    "give the path from the data folder on, as lapwing store check prints it",
                ));
            }
        }
    }
    Ok(found)
}

/// Ranges that follow each other as one.
fn merged(ranges: &[LostRange]) -> Vec<LostRange> {
    let mut merged: Vec<LostRange> = vec![];
    for range in ranges {
        match merged.last_mut() {
            Some(last) if (last.partition, last.last + 1) == (range.partition, range.first) => last.last = range.last,
            _ => merged.push(*range),
        }
    }
    merged
}
