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
    use super::*;

    /// Is a link told with what it leads to, and the folders of both?
    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        std::fs::create_dir(root.join("real")).expect("made");
        std::os::unix::fs::symlink("real", root.join("link")).expect("linked");
        let found = to(&root.join("link/../link/file"));
        for step in [Path::new("/"), &root, &root.join("link"), &root.join("real"), &root.join("real/file")] {
            assert!(found.contains(&step.to_path_buf()), "{step:?} in {found:?}");
        }
        assert!(!found.contains(&root.join("link/file")));
    }
}
