//! Which files of a configuration decide who may what.

use std::path::{Path, PathBuf};

/// A file that decides who may what, the key that names it, and whether what is in it is to stay secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Believed {
    /// Where it is.
    pub path: PathBuf,
    /// The key of the configuration, or the flag.
    pub key: String,
    /// Not everybody may read it.
    pub is_secret: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Secrets,
    NoSecret,
    /// A certificate: where no key is named beside it, that lies in the same file.
    PerhapsTheKey,
}
use Holds::{NoSecret, PerhapsTheKey, Secrets};

const KEYS: [(&str, Holds); 10] = [
    ("auth.users", Secrets),
    ("auth.jwt.secret_file", Secrets),
    ("auth.jwt.key_files", NoSecret),
    ("auth.jwt.jwks_file", NoSecret),
    ("auth.jwt.jwks_ca", NoSecret),
    ("auth.http.ca", NoSecret),
    ("auth.http.authorization_file", Secrets),
    ("cluster.certificate", NoSecret),
    ("cluster.key", Secrets),
    ("cluster.ca", NoSecret),
];
const OF_HTTP: [(&str, Holds); 4] =
    [("certificate", PerhapsTheKey), ("key", Secrets), ("client_ca", NoSecret), ("crl", NoSecret)];
/// Beside those of HTTP.
const OF_LISTENER: (&str, Holds) = ("psk", Secrets);
/// What the broker makes itself, where nobody else may put his own.
pub(super) const TRAIL: &str = "audit.file";
pub(super) const SOCKETS: &str = "listeners";
/// Nothing in it is one.
const CONFIGURATION: &str = "--config";

/// Those of a configuration, in the order of the keys, of which this is the only list: a new one that names a file belongs here,
/// unless nothing is believed of what is in it.
///
/// `file`: where it was read from; `listeners`: how many it has; `named`: the files that a key names, such as
/// `listeners.0.crl`, none where it does not or where there is no such key.
pub fn believed_files(file: Option<&Path>, listeners: usize, named: impl Fn(&str) -> Vec<PathBuf>) -> Vec<Believed> {
    let configuration = file.map(|path| Believed { path: path.into(), key: CONFIGURATION.into(), is_secret: false });
    let mut found: Vec<Believed> = configuration.into_iter().collect();
    for (key, holds) in KEYS {
        found.extend(at(key, holds == Secrets, &named));
    }
    for table in (0..listeners).map(|number| format!("listeners.{number}")) {
        found.extend(of_table(&table, OF_HTTP.into_iter().chain([OF_LISTENER]), &named));
    }
    found.extend(of_table("http", OF_HTTP, &named));
    found
}

/// What is nobody else's to make, beside what is believed: the audit trail, which who may write its folder could take away or keep
/// himself, and the folders of Unix sockets, where he could put his own and be given passwords. `urls`: of all listeners.
pub fn made_files<'a>(trail: Option<&Path>, urls: impl IntoIterator<Item = &'a str>) -> Vec<Believed> {
    let made = |path: &Path, key: &str| Believed { path: path.to_owned(), key: key.to_owned(), is_secret: false };
    let sockets = urls.into_iter().filter_map(|url| Path::new(url.strip_prefix("unix://")?).parent());
    trail.map(|path| made(path, TRAIL)).into_iter().chain(sockets.map(|folder| made(folder, SOCKETS))).collect()
}

fn of_table(
    table: &str,
    keys: impl IntoIterator<Item = (&'static str, Holds)>,
    named: impl Fn(&str) -> Vec<PathBuf>,
) -> Vec<Believed> {
    let has_key = !named(&format!("{table}.key")).is_empty();
    let is_secret = |holds: Holds| holds == Secrets || (holds == PerhapsTheKey && !has_key);
    keys.into_iter().flat_map(|(key, holds)| at(&format!("{table}.{key}"), is_secret(holds), &named)).collect()
}

fn at(key: &str, is_secret: bool, named: impl Fn(&str) -> Vec<PathBuf>) -> Vec<Believed> {
    named(key).into_iter().map(|path| Believed { path, key: key.to_owned(), is_secret }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(named: &[(&str, &[&str])]) -> Vec<(String, bool)> {
        let files = |key: &str| {
            let found = named.iter().find(|(named, _)| *named == key);
            found.map_or_else(Vec::new, |(_, files)| files.iter().map(PathBuf::from).collect())
        };
        let found = believed_files(Some(Path::new("lapwing.toml")), 2, files);
        found.into_iter().map(|file| (format!("{} {}", file.key, file.path.display()), file.is_secret)).collect()
    }

    fn expected(files: &[(&str, bool)]) -> Vec<(String, bool)> {
        files.iter().map(|(file, is_secret)| ((*file).to_owned(), *is_secret)).collect()
    }

    /// Is each file named with its key, all of a list, and nothing that decides nothing?
    #[test]
    fn of_all_tables() {
        let named: [(&str, &[&str]); 6] = [
            ("audit.file", &["a"]),
            ("auth.jwt.key_files", &["k1", "k2"]),
            ("auth.users", &["u"]),
            ("http.crl", &["r"]),
            ("listeners.1.psk", &["p"]),
            ("listeners.2.psk", &["there are two"]),
        ];
        let files = [
            ("--config lapwing.toml", false),
            ("auth.users u", true),
            ("auth.jwt.key_files k1", false),
            ("auth.jwt.key_files k2", false),
            ("listeners.1.psk p", true),
            ("http.crl r", false),
        ];
        assert_eq!(told(&named), expected(&files));
    }

    /// Is a certificate secret where its key may lie in the same file, and only there?
    #[test]
    fn a_certificate_with_its_key() {
        let named: [(&str, &[&str]); 3] =
            [("listeners.0.certificate", &["both"]), ("http.certificate", &["c"]), ("http.key", &["k"])];
        let files = [
            ("--config lapwing.toml", false),
            ("listeners.0.certificate both", true),
            ("http.certificate c", false),
            ("http.key k", true),
        ];
        assert_eq!(told(&named), expected(&files));
    }

    #[test]
    fn what_it_makes_itself() {
        let found = made_files(Some(Path::new("a.jsonl")), ["tcp://127.0.0.1:1883", "unix:///run/lapwing/mqtt.sock"]);
        let found: Vec<_> = found.iter().map(|file| format!("{} {}", file.key, file.path.display())).collect();
        assert_eq!(found, ["audit.file a.jsonl", "listeners /run/lapwing"]);
        assert!(made_files(None, ["unix://"]).is_empty(), "whoever binds it says so");
    }
}
