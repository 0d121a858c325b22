//! A durable consumer group begins.
//!
//! ```text
//! name, filter: texts
//! ```

use super::Body;
use crate::Fault;
use crate::wire::{Input, put_text};

/// The index of this entry is the id of the group. A group of the same name and filter that is there ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOpened<'a> {
    /// Its share name.
    pub name: &'a str,
    /// Its filter.
    pub filter: &'a str,
}

impl<'a> Body<'a> for GroupOpened<'a> {
    const KIND: u8 = 9;
    const WHAT: &'static str = "an entry `GroupOpened`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        put_text(self.name, "the name of a consumer group", out)?;
        put_text(self.filter, "the filter of a consumer group", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let name = input.text("the name of a consumer group is cut off, too long or not UTF-8")?;
        Ok(GroupOpened {
            name,
            filter: input.text("the filter of a consumer group is cut off, too long or not UTF-8")?,
        })
    }
}
