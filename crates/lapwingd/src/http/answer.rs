//! What goes back: a status, fields, a body, and no more than one request a connection.

use std::sync::Arc;

use lapwing_node::Handle;
use serde_json::{Value as Json, json};

use super::error::HttpError;
use super::read_places::ReadPlace;
use super::text::json_text;

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: u16,
    fields: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// What a read of a stream has until its body is sent.
    pub held: Option<Held>,
}

/// A place among reads, and the memory of what was read.
pub(super) struct Held {
    _place: ReadPlace,
    node: Arc<Handle>,
    bytes: i64,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Held({} bytes)", self.bytes)
    }
}

impl Held {
    /// `bytes` count with what clients hold, for as long as this lives.
    pub(super) fn new(place: ReadPlace, node: &Arc<Handle>, bytes: usize) -> Self {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        node.hold_reads(bytes);
        Held { _place: place, node: Arc::clone(node), bytes }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.node.hold_reads(-self.bytes);
    }
}

const JSON: &str = "application/json";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const ARROW: &str = "application/vnd.apache.arrow.stream";

impl Answer {
    fn of(content: &str, body: Vec<u8>) -> Self {
        Answer { status: 200, fields: vec![("content-type", content.to_owned())], body, held: None }
    }

    pub(super) fn status(word: &str) -> Self {
        Answer::json(&json_text(&json!({ "status": word })))
    }

    /// `text`: a whole document.
    pub(super) fn json(text: &str) -> Self {
        Answer::of(JSON, text.as_bytes().to_vec())
    }

    pub(super) fn metrics(text: String) -> Self {
        Answer::of(PROMETHEUS, text.into_bytes())
    }

    pub(super) fn arrow(body: Vec<u8>, fields: Vec<(&'static str, String)>, held: Held) -> Self {
        let mut answer = Answer::of(ARROW, body);
        answer.fields.extend(fields);
        answer.held = Some(held);
        answer
    }

    /// It is done, and there is nothing to say.
    pub(super) fn nothing() -> Self {
        Answer { status: 204, fields: Vec::new(), body: Vec::new(), held: None }
    }

    /// All that goes before the body.
    pub(super) fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, phrase(self.status));
        for (name, value) in &self.fields {
            head += &format!("{name}: {value}\r\n");
        }
        if self.status != 204 {
            head += &format!("content-length: {}\r\n", self.body.len());
        }
        head + "x-content-type-options: nosniff\r\ncross-origin-resource-policy: same-origin\r\nconnection: close\r\n\r\n"
    }
}

impl From<HttpError> for Answer {
    fn from(error: HttpError) -> Self {
        let body = error.body();
        let mut answer = Answer { status: error.status, ..Answer::of(JSON, body) };
        answer.fields.extend(error.fields);
        answer
    }
}

/// An object of several members, in this order.
pub(super) fn members(of: &[(&str, &Json)]) -> String {
    let all: Vec<String> = of.iter().map(|(name, value)| format!("\"{name}\":{}", json_text(value))).collect();
    format!("{{{}}}", all.join(","))
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        413 => "Content Too Large",
        416 => "Range Not Satisfiable",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Service Unavailable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_is_behind_it() {
        let error = HttpError::new(503, "busy", "m", "r").retry_after_s(1);
        let answer = Answer::from(error);
        let head = answer.head();
        assert!(head.starts_with("HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"), "{head}");
        assert!(head.contains(&format!("\r\nretry-after: 1\r\ncontent-length: {}\r\n", answer.body.len())), "{head}");
        assert!(head.ends_with("\r\nconnection: close\r\n\r\n"), "{head}");
        let head = Answer::nothing().head();
        assert!(head.starts_with("HTTP/1.1 204 No Content\r\nx-content") && !head.contains("length"), "{head}");
    }
}
