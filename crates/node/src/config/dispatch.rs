//! Consumer groups as a whole: names of what publishers say, and how many groups and members there may be.

use serde::{Deserialize, Serialize};

use super::check_text;
use crate::error::NodeError;

/// What holds for every consumer group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DispatchConfig {
    /// User property of a PUBLISH that has its deadline in milliseconds from the broker's ingress.
    pub deadline_property: String,
    /// User property of a PUBLISH that has its priority: `critical` or `bulk`.
    pub priority_property: String,
    /// Groups of the whole broker; a SUBSCRIBE that would make one more is refused.
    pub groups_max: u32,
    /// Members of one group; a SUBSCRIBE of one more is refused.
    pub members_per_group_max: u32,
    /// Groups that have metrics of their own, the declared ones first; of the others their number. 0: none.
    pub group_metrics_max: u32,
    /// Metrics per member are shown up to so many members of the whole broker; above, none. 0: none.
    pub member_metrics_max: u32,
    /// Bytes of names (of groups, filters, clients) in all metrics of groups and members.
    pub metrics_label_bytes_max: u64,
}

impl Default for DispatchConfig {
    fn default() -> Self {
        DispatchConfig {
            deadline_property: "lapwing-deadline-ms".into(),
            priority_property: "lapwing-priority".into(),
            groups_max: 10_000,
            members_per_group_max: 10_000,
            group_metrics_max: 1_000,
            member_metrics_max: 256,
            metrics_label_bytes_max: 2 << 20,
        }
    }
}

impl DispatchConfig {
    pub(super) fn check(&self) -> Result<(), NodeError> {
        check_text("dispatch.deadline_property", Some(&self.deadline_property), "\0")?;
        check_text("dispatch.priority_property", Some(&self.priority_property), "\0")?;
        if self.deadline_property == self.priority_property {
            let what = "has the same name as dispatch.deadline_property".to_owned();
            return Err(NodeError::config("dispatch.priority_property", what, "Give each property a name of its own."));
        }
        let positive =
            [("dispatch.groups_max", self.groups_max), ("dispatch.members_per_group_max", self.members_per_group_max)];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(NodeError::config(key, "is 0".to_owned(), "Set it to 1 or more.")),
            None => Ok(()),
        }
    }
}
