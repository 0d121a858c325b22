//! What a start would refuse of folders and addresses, without one: with the words of `lapwing config check`.

mod folders;
mod ports;

use crate::configuration::Configuration;
use crate::fault::Faults;

/// # Errors
/// All of it.
pub(crate) fn look(configuration: &Configuration) -> Result<(), Faults> {
    let mut faults = Faults::default();
    folders::faults(&configuration.node).into_iter().for_each(|fault| faults.push(fault.lasting()));
    ports::faults(configuration).into_iter().for_each(|fault| faults.push(fault.lasting()));
    faults.or(())
}
