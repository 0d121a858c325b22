//! An error as JSON with a code for programs, a sentence for people, a remedy, and the evidence: as the package writes it.

use lapwing_node::StreamReadError;
use serde_json::{Value as Json, json};

use super::text::json_text;

/// An answer that is not what was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HttpError {
    pub status: u16,
    pub code: &'static str,
    pub message: String,
    pub remedy: String,
    /// Further fields of the head.
    pub fields: Vec<(&'static str, String)>,
    evidence: Vec<(&'static str, Json)>,
}

impl HttpError {
    pub(super) fn new(
        status: u16,
        code: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> HttpError {
        let (message, remedy) = (message.into(), remedy.into());
        HttpError { status, code, message, remedy, fields: Vec::new(), evidence: Vec::new() }
    }

    /// The same with a further member.
    pub(super) fn with(mut self, name: &'static str, value: Json) -> Self {
        self.evidence.push((name, value));
        self
    }

    /// The number of that name among its further members.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.evidence.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.as_u64())
    }

    /// The same with a further field of the head.
    pub(super) fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The same, with when to come again.
    pub(super) fn retry_after_s(self, seconds: u32) -> Self {
        self.field("retry-after", seconds.to_string())
    }

    /// Its members stand in this order, whatever their names.
    pub(super) fn body(&self) -> Vec<u8> {
        let head = [("code", json!(self.code)), ("message", json!(self.message)), ("remedy", json!(self.remedy))];
        let members: Vec<String> =
            head.iter().chain(&self.evidence).map(|(name, value)| format!("\"{name}\":{}", json_text(value))).collect();
        format!("{{\"error\":{{{}}}}}", members.join(",")).into_bytes()
    }
}

/// What is not the caller's fault is 500.
impl From<StreamReadError> for HttpError {
    fn from(error: StreamReadError) -> Self {
        let status = match error.code() {
            "stream_unknown" | "partition_unknown" => 404,
            "offset_trimmed" => 410,
            "offset_ahead" => 416,
            "reader" => 400,
            "reader_taken" => 403,
            _ => 500,
        };
        let found = HttpError::new(status, error.code(), error.to_string(), error.remedy());
        error.evidence().into_iter().fold(found, |found, (name, number)| found.with(name, json!(number)))
    }
}

pub(super) fn unauthenticated(message: &str) -> HttpError {
    let challenge = "Basic realm=\"lapwing\", charset=\"UTF-8\", Bearer realm=\"lapwing\"";
    HttpError::new(401, "unauthenticated", message, "send a user's name and password (Basic) or a token (Bearer)")
        .field("www-authenticate", challenge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let error = HttpError::new(503, "busy", "m", "r").with("b", json!(1)).with("a", json!(["x"]));
        assert_eq!(error.body(), br#"{"error":{"code":"busy","message":"m","remedy":"r","b":1,"a":["x"]}}"#);
    }
}
