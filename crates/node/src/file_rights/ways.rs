//! All that decides what a path leads to.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As the kernel.
const LINKS_MAX: usize = 40;

/// Folders and symbolic links from the root on, then the file itself; as the kernel walks, only the last part of each may be
/// a link.
pub(super) fn to(path: &Path) -> Vec<PathBuf> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut at = PathBuf::from("/");
    let mut found = vec![at.clone()];
    let mut left = parts(&whole);
    let mut links = 0;
    while let Some(part) = left.pop() {
        let step = if part == ".." { at.parent().unwrap_or(&at).to_owned() } else { at.join(&part) };
        if !found.contains(&step) {
            found.push(step.clone());
        }
        match step.read_link() {
            Ok(target) if links < LINKS_MAX => {
                links += 1;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                left.extend(parts(&target));
            }
            _ => at = step,
        }
    }
    found
}

/// Names on the way, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    let mut parts: Vec<OsString> = path.components().filter_map(named).collect();
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder without links on the way to it.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        (folder, root)
    }

    /// Does a plain path go from the root?
    #[test]
    fn a_plain_path() {
        let (_folder, root) = folder();
        let file = root.join("users.toml");
        let mut expected: Vec<PathBuf> = file.ancestors().map(Path::to_owned).collect();
        expected.reverse();
        assert_eq!(to(&file), expected);
    }

    /// Are both links of a secret of Kubernetes, and the folder that the second one leads to, among what decides?
    #[test]
    fn a_secret_of_kubernetes() {
        let (_folder, root) = folder();
        let mounted = root.join("tls");
        create_dir_all(mounted.join("..2026_11")).unwrap();
        write(mounted.join("..2026_11/tls.key"), "").unwrap();
        symlink("..2026_11", mounted.join("..data")).unwrap();
        symlink("..data/tls.key", mounted.join("tls.key")).unwrap();
        let found = to(&mounted.join("tls.key"));
        let names = ["tls", "tls/tls.key", "tls/..data", "tls/..2026_11", "tls/..2026_11/tls.key"];
        assert_eq!(found[root.ancestors().count()..], names.map(|name| root.join(name)));
    }

    /// Is every folder that the kernel looks into found, also between two links, and with .. behind one?
    #[test]
    fn links_to_folders_and_back() {
        let (_folder, root) = folder();
        for name in ["a", "b/c", "d/e"] {
            create_dir_all(root.join(name)).unwrap();
        }
        symlink(root.join("b/two"), root.join("a/one")).unwrap();
        symlink("../d/e", root.join("b/two")).unwrap();
        write(root.join("d/file"), "").unwrap();
        let found = to(&root.join("a/one/../file"));
        for name in ["a", "a/one", "b", "b/two", "d", "d/e", "d/file"] {
            assert!(found.contains(&root.join(name)), "{name} in {found:?}");
        }
        assert_eq!(found.last(), Some(&root.join("d/file")));
    }

    /// Does a ring of links end?
    #[test]
    fn a_ring_of_links() {
        let (_folder, root) = folder();
        symlink("two", root.join("one")).unwrap();
        symlink("one", root.join("two")).unwrap();
        assert!(to(&root.join("one")).contains(&root.join("two")));
    }
}
