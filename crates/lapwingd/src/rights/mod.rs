//! Whether the files that the broker believes are its own: the node decides (`lapwing_node::look_at_files`), as for the package.
//!
//! Written by others than root and the broker's own account: refused, or told.

mod believed;
mod private_group;

use believed::believed;
use lapwing_node::{FileFault, Trusted, look_at_files, made_files, strange_kind};
use private_group::private_group;

use crate::configuration::Configuration;
use crate::fault::{Fault, Faults};
use crate::system::user_id;

/// What is to be told, a line each. Files that are not there are left to whoever reads them.
///
/// # Errors
/// Something else lies where a file is named; or others may write one of them, and `broker.files` is "strict". All of them.
pub(crate) fn look(configuration: &Configuration) -> Result<Vec<String>, Faults> {
    let files = believed(configuration);
    // The configuration itself may come from a pipe: it has been read.
    faults(files.iter().filter(|file| file.key != "--config").filter_map(strange_kind)).or(())?;
    let (uid, node) = (user_id(), &configuration.node);
    let data = node.data_dir.as_deref().filter(|_| node.keeps_sessions() || !node.streams.is_empty());
    let urls = node.listeners.iter().map(|listener| &*listener.url);
    let files = [files, made_files(node.audit.file.as_deref(), urls)].concat();
    let looked = look_at_files(&files, &[], data, &Trusted::by(uid, private_group(uid)));
    let written = faults(looked.written.into_iter());
    if configuration.own.is_strict {
        written.clone().or(())?;
    }
    Ok(written.iter().map(Fault::to_string).chain(looked.told).collect())
}

fn faults(found: impl Iterator<Item = FileFault>) -> Faults {
    let mut faults = Faults::default();
    found.for_each(|fault| faults.push(Fault::wrong(fault.what, fault.place, fault.remedy)));
    faults
}
