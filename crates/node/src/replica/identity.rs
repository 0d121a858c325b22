//! Who a folder says that it is: the file `cluster.json` in it.
//!
//! An identity that is being given lies beside it, as a draft, until the journal is the cluster's: so a crash leaves a folder
//! that is nobody's or a member's, and a member always knows who it is.

use std::io;
use std::path::{Path, PathBuf};

use lapwing_cluster::{Boot, ClusterId, FolderId, NodeId};
use lapwing_store::disk::{Disk, read_whole, replace};
use serde::{Deserialize, Serialize};

use super::ReplicaError;

const FILE: &str = "cluster.json";
const DRAFT: &str = "cluster.draft";
const VERSION: u32 = 1;
const BYTES_MAX: u64 = 4 << 10;

/// A member, as its folder has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its cluster.
    pub(crate) cluster: ClusterId,
    /// What people call that.
    pub(crate) cluster_name: String,
    /// Its number.
    pub(crate) node: NodeId,
    /// The folder's own id.
    pub(crate) folder: FolderId,
    /// How often it was started as a member.
    pub(crate) boot: Boot,
}

/// As it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    cluster: ClusterId,
    cluster_name: String,
    node: NodeId,
    folder: FolderId,
    boot: Boot,
}

/// As much of it as tells whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

impl Identity {
    /// Who the folder is, in the cluster that its journal is of; nothing where it is nobody's. An identity that a crash has left
    /// a draft is given now.
    ///
    /// # Errors
    /// `Identity`: the file cannot be read or written. `Stranger`: it is no identity, or of another cluster than the journal.
    pub(crate) fn of(disk: &dyn Disk, dir: &Path, cluster: Option<ClusterId>) -> Result<Option<Self>, ReplicaError> {
        if let Some(found) = Self::read(disk, &dir.join(FILE))? {
            return match cluster.is_none_or(|cluster| cluster == found.cluster) {
                true => Ok(Some(found)),
                false => Err(stranger(&dir.join(FILE), "it is of another cluster than the log".into())),
            };
        }
        let Some(cluster) = cluster else { return Ok(None) };
        let Some(draft) = Self::read(disk, &dir.join(DRAFT))?.filter(|draft| draft.cluster == cluster) else {
            return Ok(None);
        };
        Self::name_draft(disk, dir)?;
        Ok(Some(draft))
    }

    /// Counts one start more. What is said of it may leave when this returns.
    ///
    /// # Errors
    /// `Identity`: it could not be written, and is as it was.
    pub(crate) fn next_boot(&mut self, disk: &dyn Disk, dir: &Path) -> Result<Boot, ReplicaError> {
        let next = Identity { boot: Boot(self.boot.0 + 1), ..self.clone() };
        next.write(disk, &dir.join(FILE))?;
        *self = next;
        Ok(self.boot)
    }

    /// Writes it beside its place, durable. It counts when it is [named](Self::name_draft), or when the journal is of its cluster.
    ///
    /// # Errors
    /// `Identity`.
    pub(super) fn draft(&self, disk: &dyn Disk, dir: &Path) -> Result<(), ReplicaError> {
        self.write(disk, &dir.join(DRAFT))
    }

    /// The draft is the identity from now on.
    ///
    /// # Errors
    /// `Identity`.
    pub(super) fn name_draft(disk: &dyn Disk, dir: &Path) -> Result<(), ReplicaError> {
        let file = dir.join(FILE);
        let named = disk.rename(&dir.join(DRAFT), &file).and_then(|()| disk.sync_dir(dir));
        named.map_err(|source| ReplicaError::Identity { operation: "name", file, source })
    }

    fn write(&self, disk: &dyn Disk, file: &Path) -> Result<(), ReplicaError> {
        let Identity { cluster, ref cluster_name, node, folder, boot } = *self;
        let document = Document { version: VERSION, cluster, cluster_name: cluster_name.clone(), node, folder, boot };
        let mut text = serde_json::to_vec_pretty(&document).expect("texts and numbers are JSON");
        text.push(b'\n');
        let file: PathBuf = file.into();
        replace(disk, &file, &text).map_err(|source| ReplicaError::Identity { operation: "write", file, source })
    }

    fn read(disk: &dyn Disk, file: &Path) -> Result<Option<Self>, ReplicaError> {
        let bytes = match read_whole(disk, file, BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ReplicaError::Identity { operation: "read", file: file.into(), source }),
        };
        let strange = |error: serde_json::Error| stranger(file, error.to_string());
        let head: Head = serde_json::from_slice(&bytes).map_err(strange)?;
        if head.version > VERSION {
            let what = format!("it is of version {}, and this program reads version {VERSION}", head.version);
            return Err(stranger(file, what));
        }
        let Document { cluster, cluster_name, node, folder, boot, .. } =
            serde_json::from_slice(&bytes).map_err(strange)?;
        if boot.0 == u64::MAX || usize::from(node.0) >= lapwing_cluster::MEMBERS_MAX {
            return Err(stranger(file, "no node has these numbers".into()));
        }
        Ok(Some(Identity { cluster, cluster_name, node, folder, boot }))
    }
}

fn stranger(file: &Path, what: String) -> ReplicaError {
    ReplicaError::Stranger { file: file.into(), what }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use lapwing_store::disk::OsDisk;

    use super::*;

    fn identity() -> Identity {
        let (cluster, folder) = (ClusterId([1; 16]), FolderId([2; 16]));
        Identity { cluster, cluster_name: "marsh".into(), node: NodeId(3), folder, boot: Boot(0) }
    }

    fn of(dir: &Path, cluster: u8) -> Result<Option<Identity>, ReplicaError> {
        Identity::of(&OsDisk, dir, Some(ClusterId([cluster; 16])))
    }

    /// Does a draft count when the journal is of its cluster, and a start from the moment that it is told?
    #[test]
    fn an_identity_is_given_and_counts_its_starts() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        assert_eq!(of(dir, 1).expect("nothing"), None);
        identity().draft(&OsDisk, dir).expect("written");
        assert_eq!(of(dir, 9).expect("another's"), None);
        assert_eq!(Identity::of(&OsDisk, dir, None).expect("nobody's"), None);
        let mut found = of(dir, 1).expect("read").expect("it is given");
        assert!(found == identity() && !dir.join(DRAFT).exists());
        for boot in 1..4 {
            assert_eq!(found.next_boot(&OsDisk, dir).expect("written"), Boot(boot));
            assert_eq!(of(dir, 1).expect("read"), Some(Identity { boot: Boot(boot), ..identity() }));
        }
        let mode = fs::metadata(dir.join(FILE)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(of(dir, 9), Err(ReplicaError::Stranger { .. })), "the journal is of another cluster");
    }

    /// Is what nobody has written refused by name?
    #[test]
    fn nothing_else_is_an_identity() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join(FILE);
        identity().write(&OsDisk, &file).expect("written");
        let text = fs::read_to_string(&file).expect("text");
        let wrong = [
            text.replace("\"version\": 1", "\"version\": 2"),
            text.replace("\"boot\": 0", "\"boot\": 0, \"more\": 1"),
            text.replace("\"boot\": 0", &format!("\"boot\": {}", u64::MAX)),
            text.replace("\"node\": 3", "\"node\": 64"),
            text[..text.len() - 3].to_owned(),
            String::new(),
        ];
        for wrong in wrong {
            fs::write(&file, &wrong).expect("written");
            assert!(matches!(of(dir.path(), 1), Err(ReplicaError::Stranger { .. })), "{wrong}");
        }
        fs::write(&file, " ".repeat(5000)).expect("written");
        assert!(matches!(of(dir.path(), 1), Err(ReplicaError::Identity { operation: "read", .. })));
    }
}
