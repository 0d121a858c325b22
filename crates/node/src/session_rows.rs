//! What is said of sessions to whoever asks, a row at a time in JSON: clients choose how long their names are, and who reads a
//! row holds up nobody as long as who reads a page.

use serde::Serialize;
use serde_json::json;

use crate::session_pages::SessionPage;
use crate::session_reports::SessionDetail;

/// One page of a list.
#[derive(Debug)]
pub struct SessionList {
    /// Each as an object in JSON.
    pub sessions: Vec<String>,
    /// What there is beside them, as an object in JSON: `matching`, `waiting_messages`, `waiting_bytes`, `next`.
    pub rest: String,
}

/// One session.
#[derive(Debug)]
pub struct SessionShown {
    /// As in a list.
    pub session: String,
    /// What it subscribes to, each as an object in JSON.
    pub subscribed: Vec<String>,
    /// What waits, each as an object in JSON.
    pub queue: Vec<String>,
}

impl From<SessionPage> for SessionList {
    fn from(page: SessionPage) -> Self {
        SessionList { sessions: rows(&page.sessions), rest: json!(page).to_string() }
    }
}

impl From<SessionDetail> for SessionShown {
    fn from(shown: SessionDetail) -> Self {
        let SessionDetail { session, subscribed, queue, .. } = shown;
        SessionShown { session: json!(session).to_string(), subscribed: rows(&subscribed), queue: rows(&queue) }
    }
}

fn rows<T: Serialize>(of: &[T]) -> Vec<String> {
    of.iter().map(|row| json!(row).to_string()).collect()
}
