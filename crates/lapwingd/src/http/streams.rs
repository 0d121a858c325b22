//! `/v1/streams` and below: which streams there are, who reads by name, and messages as Arrow IPC.

use std::sync::Arc;
use std::time::Duration;

use lapwing_node::{Handle, ReadBy, ReaderInfo, WallTime};
use serde_json::{Value as Json, json};

use super::answer::{Answer, Held, members};
use super::caller::{Caller, Standing};
use super::counters::{BODY_BYTES, Counters, READERS_IGNORED, READS_REFUSED};
use super::error::HttpError;
use super::parameters::ReadParameters;
use super::query::Query;
use super::read_places::ReadPlaces;
use super::text::{json_text, quoted};

/// Each of them, retention has taken a segment between two steps of ours.
const OLDEST_READS_MAX: usize = 8;

/// Those of a node.
pub(super) struct Streams {
    pub node: Arc<Handle>,
    pub places: ReadPlaces,
}

impl Streams {
    /// Those that the caller may know of.
    pub(super) fn index(&self, caller: &Caller) -> Result<Answer, HttpError> {
        let seen = self.seen_by(caller)?;
        if seen.is_empty() {
            caller.need_to_list()?;
        }
        Ok(Answer::json(&members(&[("streams", &seen.into())])))
    }

    /// As in the list, and its named readers.
    pub(super) fn info(&self, caller: &Caller, name: &str) -> Result<Answer, HttpError> {
        caller.need_to_see(&*self.node, name)?;
        let stream = json_text(&self.find(caller, name)?);
        let readers: Vec<String> = self.node.streams().readers(name)?.iter().map(reader).collect();
        let shown = stream.strip_suffix('}').unwrap_or(&stream);
        Ok(Answer::json(&format!("{shown},\"readers\":[{}]}}", readers.join(","))))
    }

    /// Forgets a named reader.
    pub(super) fn forget(&self, caller: &Caller, name: &str, reader: &str) -> Result<Answer, HttpError> {
        caller.need_to_administer(&*self.node)?;
        self.find(caller, name)?;
        if self.node.streams().forget_reader(name, reader)? {
            return Ok(Answer::nothing());
        }
        let message = format!("stream {} remembers no reader {}", quoted(name), quoted(reader));
        Err(HttpError::new(404, "reader_unknown", message, format!("GET /v1/streams/{name} names those there are")))
    }

    /// Messages. `is_link`: a page of another site asks for it, and must change nothing: no reader moves.
    pub(super) fn read(
        &self,
        caller: &Caller,
        (name, partition): (&str, &str),
        query: &Query,
        is_link: bool,
        only_head: bool,
        counters: &Counters,
    ) -> Result<Answer, HttpError> {
        // First of all: who may not read a stream learns nothing of it, not even that a parameter is wrong.
        caller.need_to_read(&*self.node, name)?;
        let mut wanted = ReadParameters::of(partition, query)?;
        if wanted.reader.is_some() && is_link {
            counters.add(READERS_IGNORED, 1);
            wanted.reader = None;
        }
        // Who asks for the headers alone has read nothing.
        wanted.reader = wanted.reader.filter(|_| !only_head);
        let is_open = caller.standing == Standing::Open;
        let place = self.places.take(caller.name.as_deref(), is_open, self.node.is_memory_high());
        let place = place.inspect_err(|_| counters.add(READS_REFUSED, 1))?;
        let stream = self.find(caller, name)?;
        let reader = wanted.reader.as_deref().map(|reader| ReadBy {
            name: reader,
            owner: caller.name.as_deref(),
            overrides: caller.may_administer(&*self.node),
        });
        let (streams, messages_max) = (self.node.streams(), wanted.messages_max);
        let read_at = |from| {
            let read = streams.read_arrow(name, wanted.partition, from, messages_max, wanted.bytes_max, reader);
            read.map_err(HttpError::from)
        };
        let read = match wanted.from {
            Some(from) => read_at(from)?,
            None => read_oldest(first_offset(&stream, wanted.partition), read_at)?,
        };
        counters.add(BODY_BYTES, read.ipc.len() as u64);
        let fields = vec![
            ("lapwing-first-offset", read.first_offset.to_string()),
            ("lapwing-next-offset", read.next_offset.to_string()),
            ("lapwing-end-offset", read.end_offset.to_string()),
            ("lapwing-stream-uuid", stream["uuid"].as_str().unwrap_or_default().to_owned()),
            ("cache-control", "no-store".to_owned()),
        ];
        let held = Held::new(place, &self.node, read.ipc.len());
        Ok(Answer::arrow(read.ipc, fields, held))
    }

    /// One stream; whether the caller may have it has been asked before.
    ///
    /// # Errors
    /// 404, with the names that there are and that the caller may know of.
    fn find(&self, caller: &Caller, name: &str) -> Result<Json, HttpError> {
        let mut streams = self.seen_by(caller)?;
        if let Some(at) = streams.iter().position(|stream| stream["name"] == name) {
            return Ok(streams.swap_remove(at));
        }
        let known: Vec<&str> = streams.iter().filter_map(|stream| stream["name"].as_str()).collect();
        let remedy = match &known[..] {
            [] => "add [streams.NAME] to the configuration".to_owned(),
            known => format!("known streams: {}", known.join(", ")),
        };
        let message = format!("no stream {}", quoted(name));
        Err(HttpError::new(404, "stream_unknown", message, remedy).with("streams", json!(known)))
    }

    fn seen_by(&self, caller: &Caller) -> Result<Vec<Json>, HttpError> {
        let mut document: Json = serde_json::from_str(&self.node.streams_json()).map_err(|error| {
            HttpError::new(500, "defect", format!("a defect in the broker: {error}"), "report it with the broker's log")
        })?;
        let Json::Array(streams) = document["streams"].take() else { return Ok(Vec::new()) };
        let is_seen = |stream: &Json| caller.may_see(&*self.node, stream["name"].as_str().unwrap_or_default());
        Ok(streams.into_iter().filter(is_seen).collect())
    }
}

/// Where a read that does not say begins; an unknown partition is left to the node to refuse.
fn first_offset(stream: &Json, partition: u32) -> u64 {
    stream["partitions"][partition as usize]["first_offset"].as_u64().unwrap_or(0)
}

/// Reads from the oldest message, which is `first` unless retention takes that before it is read: then what is the oldest by then.
fn read_oldest<T>(first: u64, mut read_at: impl FnMut(u64) -> Result<T, HttpError>) -> Result<T, HttpError> {
    let mut read = read_at(first);
    for _ in 1..OLDEST_READS_MAX {
        let trimmed = read.as_ref().err().filter(|error| error.code == "offset_trimmed");
        let Some(oldest) = trimmed.and_then(|error| error.number("first_offset")) else { break };
        read = read_at(oldest);
    }
    read
}

fn reader(info: &ReaderInfo) -> String {
    let mut positions = info.positions.clone();
    positions.sort_unstable();
    let places: Vec<String> = positions
        .iter()
        .map(|(partition, offset)| members(&[("partition", &json!(partition)), ("next_offset", &json!(offset))]))
        .collect();
    let seen_at = WallTime::since_epoch(Duration::from_millis(u64::try_from(info.seen_at_ms).unwrap_or(0)));
    format!(
        "{{\"name\":{},\"seen_at\":\"{}\",\"partitions\":[{}]}}",
        json_text(&json!(info.name)),
        seen_at.with_ms(),
        places.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_shown_with_its_places() {
        let info = ReaderInfo { name: "spark".into(), seen_at_ms: 1_500, positions: vec![(1, 7), (0, 3)] };
        assert_eq!(
            reader(&info),
            "{\"name\":\"spark\",\"seen_at\":\"1970-01-01T00:00:01.500Z\",\"partitions\":[{\"partition\":0,\"next_offset\":3},\
             {\"partition\":1,\"next_offset\":7}]}"
        );
    }

    /// Retention deletes a segment of five messages before each of the first `times` reads.
    fn read_while_trimmed(times: u64) -> (Result<u64, HttpError>, Vec<u64>) {
        let mut asked = Vec::new();
        let read = read_oldest(0, |from| {
            asked.push(from);
            let oldest = 5 * times.min(asked.len() as u64);
            let trimmed = HttpError::new(410, "offset_trimmed", "", "").with("first_offset", json!(oldest));
            if from < oldest { Err(trimmed) } else { Ok(from) }
        });
        (read, asked)
    }

    #[test]
    fn a_read_from_the_oldest_goes_on_where_retention_has_been() {
        assert_eq!(read_while_trimmed(0), (Ok(0), vec![0]));
        assert_eq!(read_while_trimmed(2), (Ok(10), vec![0, 5, 10]));
        let (read, asked) = read_while_trimmed(u64::MAX);
        assert_eq!((read.expect_err("it never ends").status, asked.len()), (410, OLDEST_READS_MAX));
        let mut asked = 0;
        let refused = read_oldest::<u64>(0, |_| {
            asked += 1;
            Err(HttpError::new(404, "partition_unknown", "", ""))
        });
        assert_eq!((refused.expect_err("there is none").status, asked), (404, 1));
    }

    #[test]
    fn a_read_begins_at_the_first_that_is_kept() {
        let stream = json!({ "partitions": [{ "first_offset": 5 }] });
        assert_eq!((first_offset(&stream, 0), first_offset(&stream, 1)), (5, 0));
    }
}
