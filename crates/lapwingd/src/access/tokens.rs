//! The table `[auth.jwt]`: tokens as passwords, with the keys that they are checked by.

use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::{Value as Json, json};

use super::secret_files;
use crate::configuration::Rest;
use crate::fault::Fault;

const SOURCES: [&str; 4] = ["secret_file", "key_files", "jwks_file", "jwks_url"];

/// As the node has it; null: no tokens are taken.
///
/// # Errors
/// A file cannot be used; or the keys come from two places.
pub(super) fn table(own: &Rest) -> Result<Json, Fault> {
    let get = |name: &str| own.get::<Json>(&format!("auth.jwt.{name}"));
    let is_named = |name: &&str| !matches!(get(name), Json::Null) && get(name) != json!([]);
    let sources: Vec<&str> = SOURCES.into_iter().filter(is_named).collect();
    let wrong = |what: &str, remedy: String| Err(Fault::wrong(what, "auth.jwt", remedy));
    match sources.len() {
        0 => return Ok(Json::Null),
        1 => {}
        _ => return wrong("keys come from two places", format!("they come from one: {}", sources.join(" or "))),
    }
    let has_secret = sources == ["secret_file"];
    let algorithms: Vec<String> = own.get("auth.jwt.algorithms");
    if algorithms.is_empty() {
        return wrong("no algorithms", "name those of your tokens, as in algorithms = [\"RS256\"]".into());
    }
    if let Some(strange) = algorithms.iter().find(|name| name.starts_with("HS") != has_secret) {
        let why = if has_secret { "a secret cannot check" } else { "public keys must never check" };
        return wrong("algorithms do not fit the keys", format!("take {strange} out, which {why}"));
    }
    Ok(json!({
        "algorithms": algorithms,
        "keys": keys(own)?,
        "issuer": get("issuer"),
        "audience": get("audience"),
        "leeway_s": get("leeway"),
        "name_claim": get("name_claim"),
        "names": get("names"),
        "client_id_claim": get("client_id_claim"),
        "rules_claim": get("rules_claim"),
        "token_bytes_max": get("token_bytes_max"),
    }))
}

fn keys(own: &Rest) -> Result<Json, Fault> {
    if let Some(file) = own.file("auth.jwt.secret_file") {
        let mut secret = secret_files::bytes(&file, "auth.jwt.secret_file")?;
        // The line feed that an editor leaves is none of it.
        if secret.pop_if(|byte| *byte == b'\n').is_some() {
            secret.pop_if(|byte| *byte == b'\r');
        }
        return Ok(json!({ "secret": BASE64.encode(&secret) }));
    }
    let files: Vec<PathBuf> = own.get("auth.jwt.key_files");
    if !files.is_empty() {
        let texts: Result<Vec<String>, Fault> =
            files.iter().map(|file| secret_files::text(file, "auth.jwt.key_files")).collect();
        return Ok(json!({ "pem": texts? }));
    }
    if let Some(file) = own.file("auth.jwt.jwks_file") {
        return Ok(json!({ "jwks": secret_files::text(&file, "auth.jwt.jwks_file")? }));
    }
    let get = |name: &str| own.get::<Json>(&format!("auth.jwt.jwks_{name}"));
    Ok(json!({
        "url": {
            "url": get("url"),
            "ca": secret_files::text_if(own.file("auth.jwt.jwks_ca").as_deref(), "auth.jwt.jwks_ca")?,
            "plain": get("plain"),
            "refresh_ms": get("refresh"),
            "retry_ms": get("retry"),
            "stale_ms_max": get("stale_max"),
            "timeout_ms": get("timeout"),
            "bytes_max": get("bytes_max"),
        }
    }))
}
