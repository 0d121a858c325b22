//! Names that nobody chose: numbers and random bytes.

use std::fmt;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The number of a node in its cluster: 1..64, as engines, frames and certificates have it. Given once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u8);

/// How often a node's folder was started as a member. Two processes with the same one have copies of one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Boot(pub u64);

macro_rules! bytes_id {
    ($(#[$doc:meta])* $name:ident, $len:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; $len]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&HEXLOWER.encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                let bytes = HEXLOWER.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
                bytes.map($name).ok_or_else(|| de::Error::custom($what))
            }
        }
    };
}

bytes_id!(
    /// A cluster, from its founding on.
    ClusterId, 16, "a cluster's id has 32 hexadecimal digits"
);
bytes_id!(
    /// A data folder that is a member's, from its joining on.
    FolderId, 16, "a folder's id has 32 hexadecimal digits"
);
bytes_id!(
    /// SHA-256 of a token's secret: who has the log cannot join by it.
    SecretHash, 32, "a hash has 64 hexadecimal digits"
);
bytes_id!(
    /// SHA-256 of a table of the configuration that must be the same everywhere.
    TableHash, 32, "a hash has 64 hexadecimal digits"
);
