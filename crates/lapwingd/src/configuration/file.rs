//! A TOML file as a tree, with the line of each key.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tree::{Entry, Place, Table, Value};
use crate::fault::Fault;

const BYTES_MAX: u64 = 1 << 20;

/// A file's tables, and its text.
#[derive(Debug, Default)]
pub(crate) struct FileRead {
    pub table: Table,
    pub text: String,
}

/// Reads a file.
///
/// # Errors
/// Missing, unreadable, too large, not UTF-8 or not TOML; with its line.
pub(crate) fn read(path: &Path) -> Result<FileRead, Fault> {
    let text = text_of(path)?;
    let table = parse(&text, path)?;
    Ok(FileRead { table, text })
}

fn text_of(path: &Path) -> Result<String, Fault> {
    let shown = path.display().to_string();
    let mut raw = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut raw));
    if let Err(error) = read {
        let what = format!("cannot read the configuration file: {error}");
        return Err(Fault::wrong(what, shown, "give --config a file that exists and that you may read"));
    }
    if raw.len() as u64 > BYTES_MAX {
        let what = format!("the configuration file is larger than {BYTES_MAX} bytes");
        return Err(Fault::wrong(what, shown, "check that this is the right file"));
    }
    let text = String::from_utf8(raw).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        Fault::wrong("the file is not UTF-8", format!("{shown}:{line}"), "save it as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n"))
}

/// The tables of a text that stands in the file `path`.
///
/// # Errors
/// It is not TOML.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Table, Fault> {
    let place = Lines::of(text, path);
    let found = DeTable::parse(text).map_err(|error| {
        let at = place.at(error.span().map_or(0, |span| span.start));
        Fault::wrong(format!("not valid TOML: {}", error.message()), &*at.text, "correct this line")
    })?;
    Ok(place.table(found.get_ref()))
}

/// A list or a table that stands by itself in an environment variable or a flag.
///
/// # Errors
/// It is not TOML.
pub(crate) fn parse_value(text: &str, place: &Place) -> Result<Value, Fault> {
    let document = format!("value = {text}");
    let places = Lines::One(place);
    // Not what is wrong where it is none: it may quote a secret.
    if let Ok(found) = DeTable::parse(&document) {
        let mut table = places.table(found.get_ref());
        if let (Some(entry), true) = (table.remove("value"), table.is_empty()) {
            return Ok(entry.value);
        }
    }
    let remedy = r#"write ["a", "b"] or {a = 1}"#;
    Err(Fault::wrong("a value begins like a TOML list or table and is none", &*place.text, remedy))
}

enum Lines<'a> {
    /// Of a file: where each line ends.
    Many { ends: Vec<usize>, path: String, folder: Arc<Path> },
    /// All is at one place.
    One(&'a Place),
}

impl<'a> Lines<'a> {
    fn of(text: &str, path: &Path) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        let folder = path.parent().unwrap_or(Path::new("")).into();
        Lines::Many { ends, path: path.display().to_string(), folder }
    }

    fn at(&self, byte: usize) -> Place {
        match self {
            Lines::One(place) => (*place).clone(),
            Lines::Many { ends, path, folder } => {
                let line = 1 + ends.partition_point(|end| *end < byte);
                Place { text: format!("{path}:{line}").into(), folder: Some(Arc::clone(folder)) }
            }
        }
    }

    fn table(&self, found: &DeTable<'_>) -> Table {
        let entry = |key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>| {
            (key.get_ref().to_string(), Entry { value: self.value(value.get_ref()), place: self.at(key.span().start) })
        };
        found.iter().map(|(key, value)| entry(key, value)).collect()
    }

    fn value(&self, found: &DeValue<'_>) -> Value {
        match found {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Strange, Value::Whole)
            }
            DeValue::Float(number) => number.as_str().parse().map_or(Value::Strange, Value::Number),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => Value::Strange,
            DeValue::Array(items) => {
                let entry = |item: &Spanned<DeValue<'_>>| Entry {
                    value: self.value(item.get_ref()),
                    place: self.at(item.span().start),
                };
                Value::List(items.iter().map(entry).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table)),
        }
    }
}
