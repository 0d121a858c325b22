//! User properties are compared, counted and bounded pair by pair.

use lapwing_codec::*;

fn user(pairs: &[(&str, &str)]) -> UserPropertiesBuf {
    let mut buf = UserPropertiesBuf::new();
    pairs.iter().for_each(|(name, value)| buf.push(name, value).unwrap());
    buf
}

#[test]
fn they_are_equal_when_every_pair_is() {
    let own = user(&[("a", "1"), ("b", "2")]);
    assert_eq!(own.as_ref(), user(&[("a", "1"), ("b", "2")]).as_ref());
    for other in
        [&[("a", "1")][..], &[("a", "1"), ("b", "3")], &[("b", "2"), ("a", "1")], &[("a", "1"), ("c", "2")], &[]]
    {
        assert_ne!(own.as_ref(), user(other).as_ref(), "{other:?}");
    }
    assert_eq!(format!("{:?}", own.as_ref()), r#"[("a", "1"), ("b", "2")]"#);
}

/// Between other properties they are still found, in order, and those that are left are counted.
#[test]
fn they_may_stand_among_other_properties() {
    // PUBLISH to "a": k=v, content type "t", k=w, payload format 1, l=x.
    let section = b"\x26\0\x01k\0\x01v\x03\0\x01t\x26\0\x01k\0\x01w\x01\x01\x26\0\x01l\0\x01x";
    let body = [b"\0\x01a", &[section.len() as u8][..], section].concat();
    let wire = [&[0x30, body.len() as u8], &body[..]].concat();
    let Ok(Some((Packet::Publish(publish), _))) = decode(&wire, Version::V5, &Limits::default()) else {
        panic!("a PUBLISH")
    };
    let pairs = publish.properties.user;
    let mut left = pairs.iter();
    assert_eq!((left.len(), left.next(), left.len()), (3, Some(("k", "v")), 2));
    assert_eq!(left.collect::<Vec<_>>(), [("k", "w"), ("l", "x")]);
    let owned = UserPropertiesBuf::from(pairs);
    assert_eq!(owned.as_ref(), pairs);
    assert_eq!(owned, user(&[("k", "v"), ("k", "w"), ("l", "x")]));
}

/// A string of 65,535 bytes is the longest; together they are no longer than a packet can be, and no more than 65,535.
#[test]
fn what_no_packet_holds_is_refused() {
    let longest = "x".repeat(65_535);
    let mut buf = user(&[(&longest, &longest)]);
    let too_long = "x".repeat(65_536);
    assert!(matches!(buf.push(&too_long, ""), Err(EncodeError::FieldTooLong { len: 65_536, .. })));
    assert!(matches!(buf.push("", &too_long), Err(EncodeError::FieldTooLong { len: 65_536, .. })));
    let mut many = UserPropertiesBuf::new();
    (0..u16::MAX).for_each(|_| many.push("", "").unwrap());
    assert!(matches!(many.push("", ""), Err(EncodeError::PacketTooLarge { len }) if len == 65_536 * 5));
    assert_eq!(many.as_ref().iter().len(), 65_535);
}

fn encode(filters: UnsubscribeFilters<'_>) -> Result<(), EncodeError> {
    let packet = Unsubscribe { packet_id: PacketId::MIN, user: UserProperties::EMPTY, filters };
    Packet::Unsubscribe(packet).encode(Version::V5, &mut Vec::new())
}

/// The same of the filters of an UNSUBSCRIBE.
#[test]
fn filters_to_cancel_are_counted_and_shown() {
    let mut filters = UnsubscribeFiltersBuf::new();
    assert!(matches!(encode(filters.as_ref()), Err(EncodeError::NotRepresentable { .. })));
    filters.push("a/#").unwrap();
    filters.push("b").unwrap();
    assert!(encode(filters.as_ref()).is_ok());
    let mut left = filters.as_ref().iter();
    assert_eq!((filters.as_ref().is_empty(), left.len(), left.next(), left.len()), (false, 2, Some("a/#"), 1));
    assert_eq!(format!("{:?}", filters.as_ref()), r#"["a/#", "b"]"#);
}
