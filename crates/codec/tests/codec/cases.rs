//! The tables of fields: bytes of one packet each, and how they are to be judged. The node's tests send them to a broker.

use super::bytes::bytes;

/// Packet, versions, field, `ok` or the reason's value, bytes. `..` is the Remaining Length, `{ }` a section with its length.
const CASES: &[&str] = &[
    include_str!("fields/connect.txt"),
    include_str!("fields/publish.txt"),
    include_str!("fields/acknowledgements.txt"),
    include_str!("fields/subscriptions.txt"),
    include_str!("fields/others.txt"),
];

/// One line of a table.
pub struct Case<'a> {
    pub packet: &'a str,
    pub versions: &'a str,
    pub field: &'a str,
    pub verdict: &'a str,
    pub wire: &'a str,
}

/// Every line of every table.
pub fn cases() -> Vec<Case<'static>> {
    let lines = CASES.iter().flat_map(|table| table.lines()).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &'static str| {
        let mut words = line.splitn(5, ' ');
        let mut next = || words.next().unwrap_or_else(|| panic!("five words in: {line}"));
        Case { packet: next(), versions: next(), field: next(), verdict: next(), wire: next() }
    };
    lines.map(case).collect()
}

/// Fills in lengths: sections first, from the innermost, then the packet's.
pub fn assemble(wire: &str) -> Vec<u8> {
    let mut wire = wire.to_owned();
    while let Some(open) = wire.rfind('{') {
        let close = open + wire[open..].find('}').expect("a section has an end");
        let section = format!("{:02X} {}", bytes(&wire[open + 1..close]).len(), &wire[open + 1..close]);
        wire.replace_range(open..=close, &section);
    }
    if let Some((head, body)) = wire.split_once("..") {
        wire = format!("{head} {:02X} {body}", bytes(body).len());
    }
    bytes(&wire)
}
