//! The file of users, as `lapwing user` writes it. Errors name the file and the user, never a hash.

use std::path::Path;

use lapwing_files::read_file;
use serde_json::{Value as Json, json};

use crate::configuration::{Model, Table, Value, parse};
use crate::fault::Fault;

const BYTES_MAX: u64 = 64 << 20;
const REMEDY: &str = "correct it, or remove the user and add it again with lapwing user";

/// Every user, as the node has it.
///
/// # Errors
/// Missing, unreadable, cut off, not TOML, or an entry is wrong.
pub(super) fn read(file: &Path, model: &Model) -> Result<Json, Fault> {
    let text = text_of(file)?;
    let shown = file.display().to_string();
    if text.starts_with(&model.users_head) && !text.lines().any(|line| line == model.users_last_line) {
        let what = format!("the users file was cut off: its last line, '{}', is missing", model.users_last_line);
        return Err(Fault::wrong(what, shown, "write the users file as a whole, or put it back from a copy"));
    }
    let table =
        parse(&text, file).map_err(|_| Fault::wrong("the users file is not valid TOML", shown.clone(), REMEDY))?;
    let wrong = |what: &str, place: &str| Fault::wrong(what, place, REMEDY);
    if let Some((_, entry)) = table.iter().find(|(name, _)| *name != "users") {
        return Err(wrong("the users file has more than users", &entry.place.text));
    }
    let Some(users) = table.get("users") else { return Ok(json!([])) };
    let Value::Table(users) = &users.value else { return Err(wrong("users is no table", &users.place.text)) };
    let mut found = Vec::with_capacity(users.len());
    for (name, entry) in users {
        let Value::Table(fields) = &entry.value else { return Err(wrong("a user is no table", &entry.place.text)) };
        let user = user(name, fields).ok_or_else(|| wrong(&format!("users.{name} is wrong"), &entry.place.text))?;
        found.push(user);
    }
    Ok(Json::Array(found))
}

fn user(name: &str, fields: &Table) -> Option<Json> {
    if fields.keys().any(|key| !matches!(key.as_str(), "password" | "tokens")) {
        return None;
    }
    let password = match fields.get("password").map(|entry| &entry.value) {
        None => None,
        Some(Value::Text(hash)) if hash.starts_with("$argon2id$") => Some(hash),
        Some(_) => return None,
    };
    let tokens = match fields.get("tokens").map(|entry| &entry.value) {
        None => Some(Vec::new()),
        Some(Value::Table(tokens)) => tokens
            .values()
            .map(|entry| if let Value::Text(digest) = &entry.value { Some(digest) } else { None })
            .collect::<Option<Vec<&String>>>(),
        Some(_) => None,
    }?;
    Some(json!({ "name": name, "password": password, "tokens": tokens }))
}

fn text_of(file: &Path) -> Result<String, Fault> {
    let shown = file.display().to_string();
    let remedy = "make it with lapwing user add NAME, and let the broker's account read it";
    let raw = read_file(file, BYTES_MAX)
        .map_err(|error| Fault::wrong(format!("cannot read the users file: {error}"), shown.clone(), remedy))?;
    let text = String::from_utf8(raw).map_err(|_| Fault::wrong("the users file is not UTF-8", shown, REMEDY))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n"))
}
