//! The tables of the configuration that must be the same on all nodes.

use std::fmt;

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault, FaultKind};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are named as in the configuration")]
pub enum Table {
    Groups,
    Holds,
    Topics,
    Users,
    Rules,
}

impl Table {
    /// All of them, in the order in which they are compared.
    pub const ALL: [Table; 5] = [Table::Groups, Table::Holds, Table::Topics, Table::Users, Table::Rules];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Groups => "groups",
            Table::Holds => "holds",
            Table::Topics => "topics",
            Table::Users => "users",
            Table::Rules => "rules",
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const TABLES: usize = Table::ALL.len();

/// A hash of each table. What is hashed, and how, is the node's; nothing is believed by it but that two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableHashes<'a>(&'a [[u8; 32]; TABLES]);

impl<'a> TableHashes<'a> {
    /// These hashes, in the order of [`Table::ALL`].
    pub const fn new(hashes: &'a [[u8; 32]; TABLES]) -> Self {
        TableHashes(hashes)
    }

    /// The hash of a table.
    pub const fn of(self, table: Table) -> &'a [u8; 32] {
        &self.0[table as usize]
    }

    /// The first table that is another one there.
    pub fn first_difference(self, other: TableHashes<'_>) -> Option<Table> {
        Table::ALL.into_iter().find(|table| self.of(*table) != other.of(*table))
    }
}

impl<'a> Pack<'a> for TableHashes<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(self.0.as_flattened());
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        const WHAT: &str = "the hashes of the tables";
        let here = *input;
        let (hashes, _) = input.bytes(32 * TABLES, WHAT)?.as_chunks();
        hashes.first_chunk().map(TableHashes).ok_or(here.fault(FaultKind::CutShort, WHAT))
    }
}
