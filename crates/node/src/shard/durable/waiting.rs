//! What of clients waits for the disk: acknowledgements in their sessions, bytes in their connections.

use lapwing_session::{CommitToken, Io, Session, SessionKey};

use crate::shard::connections::clients::Clients;
use crate::shard::connections::connection::Connection;
use crate::shard::connections::turn_lists::touch;

impl Clients {
    /// As [`Clients::with`]; what `work` writes waits for `token`, if that is not committed yet.
    pub(crate) fn with_fence<T>(
        &mut self,
        key: SessionKey,
        token: Option<CommitToken>,
        work: impl FnOnce(&mut Session, &mut Io<'_>) -> T,
    ) -> Option<T> {
        let begun = self.connection_of(key).map_or(0, |connection| connection.output.len());
        let answer = self.with(key, work);
        if let Some(token) = token.filter(|token| *token > self.commit_tokens.committed())
            && let Some(connection) = self.connection_of(key)
        {
            connection.fence_output(begun, token);
        }
        answer
    }

    fn connection_of(&mut self, key: SessionKey) -> Option<&mut Connection> {
        let index = self.row(key)?.connection()?;
        self.connections.get_mut(index)
    }

    /// The connection has output that waits for the disk.
    pub(crate) fn wait_for_disk(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index)
            && !connection.waits_for_disk
        {
            connection.waits_for_disk = true;
            self.fenced.push(index);
        }
    }

    /// Looks whether a session that was put back waits for a commit.
    pub(crate) fn note_waiting(&mut self, key: SessionKey) {
        self.with(key, |_, _| ());
    }

    /// Everything up to `through` is committed: acknowledgements that waited for it are written, and fenced output leaves.
    pub(crate) fn committed(&mut self, through: CommitToken) {
        for index in std::mem::take(&mut self.fenced) {
            if let Some(connection) = self.connections.get_mut(index) {
                connection.waits_for_disk = false;
                touch(connection, index, &mut self.touched);
            }
        }
        for key in std::mem::take(&mut self.awaiting) {
            if let Some(row) = self.row(key) {
                row.awaiting = false;
                self.with(key, |session, io| session.committed(through, io));
            }
        }
    }
}
