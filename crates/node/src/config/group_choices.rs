//! The words of a group's table, and what each means in the rooms that act on it.

use serde::{Deserialize, Serialize};

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident => $target:path { $($(#[$variant_doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$variant => <$target>::$variant,)+
                }
            }
        }
    };
}

choice! {
    /// Which messages give way when the queue is full.
    Overflow => lapwing_groups::Overflow {
        /// The longest waiting.
        #[default]
        DropOldest,
        /// The last that came.
        DropNewest,
    }
}

choice! {
    /// What happens to work whose deadline passes while it waits.
    Expired => lapwing_groups::Expired {
        /// It is sent nevertheless.
        #[default]
        Deliver,
        /// It is dropped under a name.
        Drop,
        /// It is published to the dead-letter topic.
        DeadLetter,
    }
}

/// What makes the key of a message, whose messages keep their order under `key-ordered`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKey {
    /// Its publisher's client id.
    #[default]
    Client,
    /// Its topic.
    Topic,
}

choice! {
    /// What a member's acknowledgement means.
    Acknowledges => lapwing_dispatch::Acknowledges {
        /// Nothing is known: any standard client.
        #[default]
        Undeclared,
        /// The message has arrived.
        Received,
        /// The handler has finished.
        Processed,
    }
}
