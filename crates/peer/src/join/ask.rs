//! Somebody wants to be a node.
//!
//! ```text
//!   0 secret [u8; 32]      32 folder [u8; 16]     48 least level u32   52 most level u32
//!  56 hashes of the tables, 5 x [u8; 32]
//! 216 name: length u16, text   zone: length u16, text   release: length u16, text
//!     addresses: count u16, each length u16, text       request: length u16, PEM
//! ```

use std::fmt;

use super::pem::{put_pem, take_pem};
use crate::bounds::{ADDRESSES_MAX, NAME_BYTES_MAX, REQUEST_BYTES_MAX, SOFTWARE_BYTES_MAX};
use crate::hello::TableHashes;
use crate::wire::{Input, List, Pack, put_short_text};
use crate::{EncodeError, Fault};

/// What a newcomer says, when it knows whom it speaks to. `Debug` shows no secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JoinAsk<'a> {
    /// The token's secret: as good as a password.
    pub secret: &'a [u8; 32],
    /// The uuid of its data folder.
    pub folder: [u8; 16],
    /// The least feature level that its program can live with.
    pub least_level: u32,
    /// The most.
    pub most_level: u32,
    /// What must be the same on all nodes.
    pub tables: TableHashes<'a>,
    /// What people are to call it.
    pub name: &'a str,
    /// Where it stands; empty: nobody has said.
    pub zone: &'a str,
    /// Of its program, for people.
    pub release: &'a str,
    /// HOST:PORT at which other nodes reach it.
    pub addresses: List<'a, &'a str>,
    /// Its request for a certificate, in PEM.
    pub request: &'a str,
}

impl fmt::Debug for JoinAsk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinAsk").field("name", &self.name).field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl<'a> Pack<'a> for JoinAsk<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(self.secret);
        out.extend_from_slice(&self.folder);
        out.extend_from_slice(&self.least_level.to_le_bytes());
        out.extend_from_slice(&self.most_level.to_le_bytes());
        self.tables.put(out)?;
        put_short_text(self.name, NAME_BYTES_MAX, "the name of a node", out)?;
        put_short_text(self.zone, NAME_BYTES_MAX, "the zone of a node", out)?;
        put_short_text(self.release, SOFTWARE_BYTES_MAX, "the release of a node", out)?;
        self.addresses.put(ADDRESSES_MAX, "addresses of a node", out)?;
        put_pem(self.request, REQUEST_BYTES_MAX, "a request for a certificate", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        let secret = input.bytes(32, "the secret of a token")?;
        Ok(JoinAsk {
            secret: secret.first_chunk().ok_or(here.malformed("the secret of a token"))?,
            folder: input.array("the folder's id")?,
            least_level: input.u32("the least feature level")?,
            most_level: input.u32("the most feature level")?,
            tables: TableHashes::take(input)?,
            name: input.text(NAME_BYTES_MAX, "the name of a node")?,
            zone: input.text(NAME_BYTES_MAX, "the zone of a node")?,
            release: input.text(SOFTWARE_BYTES_MAX, "the release of a node")?,
            addresses: List::take(input, ADDRESSES_MAX, "addresses of a node")?,
            request: take_pem(input, REQUEST_BYTES_MAX, "a request for a certificate")?,
        })
    }
}
