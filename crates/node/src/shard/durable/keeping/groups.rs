//! The life of kept consumer groups, as entries: opened, over.

use lapwing_ledger::{DECLARATION_BYTES_MAX, Entry, GroupDeclared, GroupEnded, GroupOpened, KeeperId, List};

use super::{Keeping, Kept};
use crate::log::LogFeed;
use crate::slot::Slot;

impl Keeping {
    /// A consumer group is kept from now on. Nobody waits for that: what it keeps is behind it in the log.
    pub(crate) fn begin_group(&mut self, log: &mut LogFeed, name: &str, filter: &str) -> Kept {
        let slot = Slot::of_group(name, filter);
        let entry = Entry::GroupOpened(GroupOpened { name, filter });
        Kept { id: KeeperId(self.append(log, slot, false, &entry)), slot }
    }

    /// A kept consumer group was declared by this table (as JSON), or is not declared any more.
    pub(crate) fn declare_group(&mut self, log: &mut LogFeed, kept: Kept, table: Option<&[u8]>) {
        // A table that long has its settings from the configuration.
        let settings = table.map(|table| if table.len() > DECLARATION_BYTES_MAX { &b"{}"[..] } else { table });
        self.append(log, kept.slot, false, &Entry::GroupDeclared(GroupDeclared { group: kept.id, settings }));
    }

    /// A consumer group is not kept any more; what the log has of it goes.
    pub(crate) fn group_ended(&mut self, kept: Kept) {
        self.ended_groups.push(kept);
    }

    pub(super) fn tell_ended_groups(&mut self, log: &mut LogFeed) {
        for kept in std::mem::take(&mut self.ended_groups) {
            let groups = [kept.id];
            let entry = Entry::GroupEnded(GroupEnded { groups: List::from_slice(&groups) });
            self.append(log, kept.slot, false, &entry);
        }
    }
}
