//! The file of users, as `lapwing user` writes it. Errors name the file and the user, never a hash.

use std::path::Path;
use std::{fs, io};

use lapwing_files::read_file;
use serde_json::{Value as Json, json};

use crate::configuration::{Model, Table, Value, parse};
use crate::fault::Fault;

const REMEDY: &str = "correct it, or remove the user and add it again with lapwing user";

/// Every user, as the node has it.
///
/// # Errors
/// Missing, unreadable, cut off, not TOML, or an entry is wrong.
pub(super) fn read(file: &Path, model: &Model) -> Result<Json, Fault> {
    let text = text_of(file, model.users_bytes_max)?;
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

fn text_of(file: &Path, bytes_max: u64) -> Result<String, Fault> {
    let shown = file.display().to_string();
    let raw = read_file(file, bytes_max).map_err(|error| unread(file, &error, bytes_max))?;
    let text = String::from_utf8(raw).map_err(|_| Fault::wrong("the users file is not UTF-8", shown, REMEDY))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n"))
}

fn unread(file: &Path, error: &io::Error, bytes_max: u64) -> Fault {
    let shown = file.display().to_string();
    if error.kind() == io::ErrorKind::FileTooLarge {
        let size = fs::metadata(file).map_or(bytes_max + 1, |found| found.len());
        let what = format!("the users file has {size} bytes, and {bytes_max} is the most");
        let remedy = "check that this is the right file, or take users that nobody needs out of it";
        return Fault::wrong(what, shown, remedy);
    }
    let remedy = "make it with lapwing user add NAME, and let the broker's account read it";
    Fault::wrong(format!("cannot read the users file: {error}"), shown, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a file that is too large said to be that, and one that is not there not?
    #[test]
    fn a_large_file_is_told_with_its_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("users.toml");
        let said = || text_of(&file, 2).expect_err("not read").to_string();
        assert!(said().contains("let the broker's account read it"));
        fs::write(&file, "# u").expect("written");
        let (shown, line) = (file.display().to_string(), said());
        assert_eq!(
            line,
            format!(
                "the users file has 3 bytes, and 2 is the most ({shown}): check that this is the right file, or take users \
                     that nobody needs out of it"
            )
        );
        fs::write(&file, "#").expect("written");
        assert_eq!(text_of(&file, 2).expect("a file"), "#");
    }
}
