//! The most of everything that a frame may have, whatever the caller allows. All are inclusive.

/// Bytes behind the header of the first frame, and of one that says why a node was refused: nobody is known before them.
pub const HELLO_BYTES_MAX: usize = 4096;
/// The smallest bound of frames that a node may ask for, in bytes behind the header: a message with all the batches that it
/// may name fits.
pub const FRAME_BYTES_MIN: usize = 256 << 10;
/// Addresses of one node.
pub const ADDRESSES_MAX: usize = 8;
/// HOST:PORT, in bytes: a name of 253 and a port.
pub const ADDRESS_BYTES_MAX: usize = 259;
/// What a node says of its software, in bytes.
pub const SOFTWARE_BYTES_MAX: usize = 64;
/// What a node says of a refusal, in bytes.
pub const WORDS_BYTES_MAX: usize = 1024;
/// Messages of one Raft frame.
pub const MESSAGES_MAX: usize = 1024;
/// Entries of one message.
pub const ENTRIES_MAX: usize = 4096;
/// Who the members of a group are, in bytes; what they say is the cluster's.
pub const MEMBERSHIP_BYTES_MAX: usize = 1024;
/// The records of one batch, in bytes: the largest record of the journal, and as much again beside it.
pub const BATCH_BYTES_MAX: u32 = 544 << 20;
/// No term, index or sequence is larger, so what adds to one of them does not come to the end of numbers.
pub const NUMBER_MAX: u64 = 1 << 62;
/// Bytes behind the header of what a newcomer says: it is nobody yet.
pub const JOIN_ASK_BYTES_MAX: usize = 16 << 10;
/// Bytes behind the header of what it is answered: certificates, and all members with all addresses.
pub const JOIN_ANSWER_BYTES_MAX: usize = 192 << 10;
/// A name of a node, a zone or a cluster, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// A request for a certificate in PEM, in bytes.
pub const REQUEST_BYTES_MAX: usize = 8 << 10;
/// A certificate in PEM with those behind it, in bytes.
pub const CERTIFICATE_BYTES_MAX: usize = 16 << 10;
/// A private key in PEM, in bytes.
pub const KEY_BYTES_MAX: usize = 4 << 10;
/// Members that a newcomer is told of: as many as there are ids for.
pub const JOIN_MEMBERS_MAX: usize = 63;
