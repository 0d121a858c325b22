//! The table `[auth.http]`: somebody else is asked who a client is.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::secret_files;
use crate::configuration::Rest;
use crate::fault::Fault;

/// As the node has it; null: nobody is asked.
///
/// # Errors
/// A file cannot be used.
pub(super) fn table(own: &Rest) -> Result<Json, Fault> {
    let get = |name: &str| own.get::<Json>(&format!("auth.http.{name}"));
    if get("url").is_null() {
        return Ok(Json::Null);
    }
    let authorization = own.file("auth.http.authorization_file").map(|file| first_line(&file)).transpose()?;
    Ok(json!({
        "url": get("url"),
        "ca": secret_files::text_if(own.file("auth.http.ca").as_deref(), "auth.http.ca")?,
        "plain": get("plain"),
        "authorization": authorization,
        "timeout_ms": get("timeout"),
        "in_flight_max": get("in_flight_max"),
        "answer_bytes_max": get("answer_bytes_max"),
        "ttl_ms": get("ttl"),
        "ttl_ms_max": get("ttl_max"),
        "refused_ttl_ms": get("refused_ttl"),
        "remembered_max": get("remembered_max"),
        "names": get("names"),
    }))
}

fn first_line(file: &Path) -> Result<String, Fault> {
    let key = "auth.http.authorization_file";
    let text = secret_files::text(file, key)?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() || !line.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        let what = format!("{} has no value of a header in its first line", file.display());
        return Err(Fault::wrong(what, key, "write it there, as in \"Bearer ...\""));
    }
    Ok(line.to_owned())
}
