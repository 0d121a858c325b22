//! Where a copy of a data folder is made, and what is in its way.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use lapwing_node::inspect::backup;
use lapwing_store::inspect::FolderGuard;

use crate::inspect::folder;

/// Is what a killed copy has left taken over, and nothing that is somebody else's or that is being made?
#[test]
fn the_draft_of_a_killed_copy_is_begun_anew() {
    let (dir, place) = (folder(), tempfile::tempdir().unwrap());
    let (copy, draft) = (place.path().join("copy"), place.path().join("copy.partial"));
    let again = || backup(dir.path(), &copy, &mut |_| ControlFlow::Continue(()));
    fs::create_dir_all(draft.join("copy/log")).unwrap();
    fs::write(draft.join("copy/log/00000000000000000077.log"), b"half").unwrap();
    assert_eq!(again().unwrap_err().code(), "store_usage", "nothing says that it is of a copy");
    fs::write(draft.join("lock"), b"4711\n").unwrap();
    let held = FolderGuard::exclusive(&draft).unwrap();
    let refused = again().unwrap_err();
    assert!(refused.to_string().contains("another process makes a copy"), "{refused}");
    drop(held);
    fs::write(draft.join("mine"), b"mine").unwrap();
    assert_eq!(again().unwrap_err().code(), "store_usage", "there is something else");
    fs::remove_file(draft.join("mine")).unwrap();
    assert!(again().unwrap());
    assert!(!draft.exists() && !copy.join("log/00000000000000000077.log").exists() && !copy.join("lock").exists());
}

/// Is what cannot become a copy refused before anything is copied, and called what it is?
#[test]
fn a_place_that_a_copy_cannot_take_is_refused_at_once() {
    let (dir, place) = (folder(), tempfile::tempdir().unwrap());
    let (file, link) = (place.path().join("file"), place.path().join("link"));
    fs::write(&file, b"mine").unwrap();
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    for (to, what) in
        [(file.as_path(), "a file"), (&link, "a link"), (Path::new("/proc"), "where a file system is mounted")]
    {
        let refused = backup(dir.path(), to, &mut |told| panic!("{told}")).unwrap_err();
        assert_eq!(refused.code(), "store_usage", "{refused}");
        assert_eq!(refused.to_string(), format!("{} is {what}", to.display()));
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}
