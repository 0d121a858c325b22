//! What a newcomer has said, kept until it is answered.

use lapwing_cluster::{Features, FolderId, Newcomer, SecretHash, TableHash, Tables};
use lapwing_peer::{JoinAsk, Table};
use sha2::{Digest, Sha256};

/// A newcomer's words; of its secret the hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::member) struct Asked {
    pub(in crate::member) secret: SecretHash,
    pub(in crate::member) newcomer: Newcomer,
    pub(in crate::member) tables: Tables,
    /// For a certificate, in PEM.
    pub(in crate::member) request: String,
}

impl Asked {
    pub(in crate::member) fn of(ask: &JoinAsk<'_>) -> Asked {
        Asked {
            secret: SecretHash(Sha256::digest(ask.secret).into()),
            newcomer: Newcomer {
                name: ask.name.to_owned(),
                folder: FolderId(ask.folder),
                addresses: ask.addresses.iter().map(str::to_owned).collect(),
                zone: ask.zone.to_owned(),
                release: ask.release.to_owned(),
                features: Features { least: ask.least_level, most: ask.most_level },
            },
            tables: Tables::new(Table::ALL.map(|table| TableHash(*ask.tables.of(table)))),
            request: ask.request.to_owned(),
        }
    }
}
