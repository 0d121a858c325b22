//! A consumer group was declared: it is there without members too. Or it is not declared any more.
//!
//! ```text
//! group: number      flags u8: bit 0 it is declared      [settings: bytes]
//! ```

use super::Body;
use crate::bounds::DECLARATION_BYTES_MAX;
use crate::wire::{Input, Pack, put_bytes};
use crate::{Fault, KeeperId};

const DECLARED_BIT: u8 = 1;

/// What was declared before is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDeclared<'a> {
    /// The group.
    pub group: KeeperId,
    /// With these settings, as the node wrote them; at most [`DECLARATION_BYTES_MAX`](crate::DECLARATION_BYTES_MAX). None: it is
    /// there for its members only.
    pub settings: Option<&'a [u8]>,
}

impl<'a> Body<'a> for GroupDeclared<'a> {
    const KIND: u8 = 12;
    const WHAT: &'static str = "an entry `GroupDeclared`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.group.put(out)?;
        out.push(if self.settings.is_some() { DECLARED_BIT } else { 0 });
        match self.settings {
            Some(settings) => put_bytes(settings, DECLARATION_BYTES_MAX, "the settings of a consumer group", out),
            None => Ok(()),
        }
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let group = KeeperId::take(input)?;
        let is_declared = input.flags(DECLARED_BIT)? != 0;
        let what = "the settings of a consumer group are cut off or too long";
        let settings = if is_declared { Some(input.bytes(DECLARATION_BYTES_MAX, what)?) } else { None };
        Ok(GroupDeclared { group, settings })
    }
}
