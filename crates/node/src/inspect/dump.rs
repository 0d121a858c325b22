//! The records of a data folder, one by one.

use std::path::Path;
use std::sync::Arc;

use lapwing_store::disk::OsDisk;
use lapwing_store::inspect::{DataFolder, DumpRecord, FolderGuard, RecordSource};
use serde_json::{Value, json};

use super::{InspectError, Tell, words};
use crate::slot::DATA_GROUPS;

/// What is to be told.
#[derive(Clone, Debug, Default)]
pub struct DumpWanted {
    /// Only this data group's.
    pub group: Option<u16>,
    /// Those of this stream instead of the data groups'.
    pub stream: Option<String>,
    /// With the bytes of messages; they may be secrets.
    pub payload: bool,
}

/// Records read in one go.
const AT_ONCE: usize = 256;

/// Tells each record in the order of the files: `{"event": "record", ...}`; where none can be read, kind `damage`.
///
/// # Errors
/// `Usage`: a broker uses the folder, it is none, it cannot be read, or there is no such stream or group.
pub fn dump(dir: &Path, wanted: &DumpWanted, tell: Tell<'_>) -> Result<(), InspectError> {
    each_record(dir, wanted, tell).map_err(InspectError::of_looking)
}

fn each_record(dir: &Path, wanted: &DumpWanted, tell: Tell<'_>) -> Result<(), InspectError> {
    if wanted.group.is_some_and(|group| group >= DATA_GROUPS) {
        let what = format!("there is no data group {}", wanted.group.unwrap_or_default());
        return Err(InspectError::usage(what, "they are counted from 0 to 15"));
    }
    let _guard = FolderGuard::shared(dir)?;
    let folder = DataFolder::open(Arc::new(OsDisk), dir)?;
    let source = wanted.stream.clone().map_or(RecordSource::Journal, RecordSource::Stream);
    let of_group = |record: &DumpRecord| {
        let is_damage = record.kind == "damage";
        is_damage || wanted.group.is_none_or(|group| record.partition == u32::from(group))
    };
    let mut records = folder.records(&source)?;
    loop {
        let some = records.read_some(AT_ONCE)?;
        if some.is_empty() {
            return Ok(());
        }
        for record in some.iter().filter(|record| of_group(record)) {
            if tell(told(record, wanted)).is_break() {
                return Ok(());
            }
        }
    }
}

fn told(record: &DumpRecord, wanted: &DumpWanted) -> Value {
    let (partition, index) = match wanted.stream {
        Some(_) => ("partition", "offset"),
        None => ("group", "index"),
    };
    let mut said = json!({
        "event": "record", "segment": record.segment.to_string_lossy(), "at": record.at, "bytes": record.bytes,
        "kind": record.kind,
    });
    let Some(fields) = said.as_object_mut() else { return said };
    if record.kind == "damage" {
        fields.insert("what".into(), Value::from(String::from_utf8_lossy(&record.body).into_owned()));
        return said;
    }
    fields.insert(partition.into(), record.partition.into());
    fields.insert(index.into(), record.index.into());
    fields.insert("term".into(), record.term.into());
    fields.insert("appended_at_us".into(), record.appended_at_us.into());
    fields.insert("body_bytes".into(), record.body.len().into());
    let meaning = match (record.kind, &wanted.stream) {
        ("data", Some(_)) => words::message(&record.body, wanted.payload),
        ("data", None) => words::entry(&record.body, wanted.payload),
        _ => Value::Null,
    };
    if let Value::Object(meaning) = meaning {
        fields.extend(meaning);
    }
    said
}
