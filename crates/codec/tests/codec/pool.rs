//! Random values of which packets are made.

use lapwing_codec::*;
use proptest::array::{uniform4, uniform6};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Owned values that a packet borrows; each packet takes what it has a place for.
#[derive(Clone, Debug)]
pub struct Pool {
    pub version: Version,
    pub packet_id: PacketId,
    pub number: u16,
    pub texts: [Option<String>; 6],
    pub blobs: [Option<Vec<u8>>; 4],
    pub u32s: [Option<u32>; 4],
    pub u16s: [Option<u16>; 4],
    pub flags: [Option<bool>; 6],
    pub user: UserPropertiesBuf,
    pub ids: Vec<SubscriptionId>,
    pub topics: Vec<String>,
    pub filters: Vec<String>,
    pub options: Vec<SubscriptionOptions>,
    pub reason: ReasonCode,
    pub reasons: Vec<ReasonCode>,
}

impl Pool {
    pub fn text(&self, index: usize) -> Option<&str> {
        self.texts[index].as_deref()
    }

    pub fn blob(&self, index: usize) -> Option<&[u8]> {
        self.blobs[index].as_deref()
    }

    pub fn flag(&self, index: usize) -> bool {
        self.flags[index].unwrap_or_default()
    }

    pub fn qos(&self, index: usize) -> QoS {
        QoS::from_u8((self.u16s[index].unwrap_or_default() % 3) as u8).expect("below 3")
    }

    /// Whether the version has properties at all.
    pub fn is_v5(&self) -> bool {
        self.version == Version::V5
    }
}

/// Any string that a packet may carry.
fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().filter(|&c| c != '\0').collect())
}

/// Any topic name, `$` and empty levels included.
fn topic() -> impl Strategy<Value = String> {
    let level = prop_oneof![Just(String::new()), Just("$x".to_owned()), text()];
    vec(level, 1..5).prop_map(|levels| {
        let topic = levels.join("/").replace(['+', '#'], "-");
        if topic.is_empty() { "/".to_owned() } else { topic }
    })
}

/// Any filter: some levels of a topic become `+`, the end perhaps `#`, perhaps all is shared.
fn filter() -> impl Strategy<Value = String> {
    (topic(), any::<u8>(), any::<bool>(), any::<bool>()).prop_map(|(topic, plus, hash, shared)| {
        let mut levels: Vec<&str> = topic.split('/').collect();
        for (index, level) in levels.iter_mut().enumerate() {
            // A level of random text may be several: there can be more than eight.
            if plus & (1 << (index % 8)) != 0 {
                *level = "+";
            }
        }
        if hash {
            levels.push("#");
        }
        let filter = levels.join("/");
        if shared { format!("$share/group/{filter}") } else { filter.replace("$share/", "$shared/") }
    })
}

fn options() -> impl Strategy<Value = SubscriptionOptions> {
    any::<u8>().prop_filter_map("not an options byte", SubscriptionOptions::from_byte)
}

fn reason() -> impl Strategy<Value = ReasonCode> {
    any::<u8>().prop_filter_map("not a reason code", ReasonCode::from_u8)
}

fn user() -> impl Strategy<Value = UserPropertiesBuf> {
    vec((text(), text()), 0..4).prop_map(|pairs| {
        let mut user = UserPropertiesBuf::new();
        pairs.iter().for_each(|(name, value)| user.push(name, value).expect("short strings fit"));
        user
    })
}

prop_compose! {
    fn scalars()(
        version in prop_oneof![Just(Version::V311), Just(Version::V5)],
        packet_id in (1u16..).prop_filter_map("zero", PacketId::new),
        number in any::<u16>(),
        u32s in uniform4(option::of(any::<u32>())),
        u16s in uniform4(option::of(any::<u16>())),
        flags in uniform6(option::of(any::<bool>())),
    ) -> (Version, PacketId, u16, [Option<u32>; 4], [Option<u16>; 4], [Option<bool>; 6]) {
        (version, packet_id, number, u32s, u16s, flags)
    }
}

prop_compose! {
    pub fn pool()(
        (version, packet_id, number, u32s, u16s, flags) in scalars(),
        texts in uniform6(option::of(text())),
        blobs in uniform4(option::of(vec(any::<u8>(), 0..200))),
        user in user(),
        ids in vec((1u32..=268_435_455).prop_filter_map("zero", SubscriptionId::new), 0..4),
        topics in vec(topic(), 2),
        filters in vec(filter(), 1..4),
        options in vec(options(), 4),
        reason in reason(),
        reasons in vec(reason(), 1..5),
    ) -> Pool {
        Pool {
            version, packet_id, number, texts, blobs, u32s, u16s, flags, user, ids, topics, filters, options, reason,
            reasons,
        }
    }
}
