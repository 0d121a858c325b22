//! What goes back: a status, a body, and no more than one request a connection.

use std::io::{self, Write};

use serde_json::json;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    content: &'static str,
    body: String,
    /// Further fields of the head.
    more: &'static str,
}

const JSON: &str = "application/json";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const CHALLENGE: &str = "www-authenticate: Basic realm=\"lapwing\", charset=\"UTF-8\", Bearer realm=\"lapwing\"\r\n";

impl Answer {
    pub(super) fn status(word: &str) -> Self {
        Answer { status: 200, content: JSON, body: json!({ "status": word }).to_string(), more: "" }
    }

    pub(super) fn metrics(text: String) -> Self {
        Answer { status: 200, content: PROMETHEUS, body: text, more: "" }
    }

    /// An error in the form that the package has, with a code for programs.
    pub(super) fn error(status: u16, code: &str, message: &str, remedy: &str) -> Self {
        let body = json!({ "error": { "code": code, "message": message, "remedy": remedy } }).to_string();
        let more = match status {
            401 => CHALLENGE,
            405 => "allow: GET, HEAD\r\n",
            _ => "",
        };
        Answer { status, content: JSON, body, more }
    }

    /// Writes it; without its body where only the head was asked for.
    pub(super) fn write(&self, to: &mut impl Write, only_head: bool) -> io::Result<()> {
        let Answer { status, content, body, more } = self;
        let head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: {content}\r\ncontent-length: {}\r\nx-content-type-options: nosniff\r\n\
             cross-origin-resource-policy: same-origin\r\nconnection: close\r\n{more}\r\n",
            phrase(*status),
            body.len()
        );
        to.write_all(head.as_bytes())?;
        if only_head { Ok(()) } else { to.write_all(body.as_bytes()) }
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        _ => "Service Unavailable",
    }
}
