//! What is done to the files of a folder, drawn from bytes.

use crate::folder::{File, HEADER_BYTES};

/// Bytes as a source of choices; used up, they go on with zeros.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    fn number(&mut self) -> usize {
        usize::from(self.byte()) << 8 | usize::from(self.byte())
    }
}

/// Fields of a record's header: where, and how many bytes.
pub const FIELDS: [(usize, usize); 12] =
    [(0, 4), (8, 4), (12, 1), (13, 1), (14, 1), (16, 2), (18, 2), (20, 4), (24, 8), (32, 8), (48, 8), (56, 8)];
/// Numbers at which something tends to change; the length of the longest body among them.
pub const EDGES: [u64; 10] = [0, 1, 7, 0xFF, 272 << 20, u32::MAX as u64, 1 << 62, i64::MAX as u64, 1 << 63, u64::MAX];

/// One thing that is done; the first byte says to which file, the second what.
pub fn spoil(files: &mut Vec<File>, choices: &mut Choices<'_>) {
    if files.is_empty() {
        return;
    }
    let (place, what) = (choices.below(files.len()), choices.below(9));
    match what {
        0 => overwrite(&mut files[place].bytes, choices),
        1..=3 => field(&mut files[place], choices),
        4 => in_body(&mut files[place], choices),
        5 => {
            let bytes = choices.number();
            files[place].bytes.truncate(bytes);
        }
        6 => {
            let bytes = files[place].bytes.len() + choices.number();
            let with = choices.byte();
            files[place].bytes.resize(bytes, with);
        }
        7 => drop(files.remove(place)),
        _ => transplant(files, place, choices),
    }
}

fn overwrite(bytes: &mut [u8], choices: &mut Choices<'_>) {
    let (at, count) = (choices.number(), 1 + choices.below(16));
    for byte in bytes.iter_mut().skip(at).take(count) {
        *byte = choices.byte();
    }
}

/// Sets a field of a header to an edge, or a little more or less than it is.
fn field(file: &mut File, choices: &mut Choices<'_>) {
    let (record, (at, bytes), how) = (choices.number(), FIELDS[choices.below(FIELDS.len())], choices.byte());
    if let Some((start, _)) = record_of(file, record) {
        change(&mut file.bytes[start + at..start + at + bytes], how);
    }
}

/// The same with four or eight bytes of a body.
fn in_body(file: &mut File, choices: &mut Choices<'_>) {
    let (record, at, how) = (choices.number(), choices.below(64) * 4, choices.byte());
    if let Some((start, _)) = record_of(file, record) {
        let from = start + HEADER_BYTES + at;
        let bytes = if how & 1 == 0 { 8 } else { 4 };
        if let Some(field) = file.bytes.get_mut(from..from + bytes) {
            change(field, how);
        }
    }
}

fn record_of(file: &File, number: usize) -> Option<(usize, u32)> {
    let count = file.records.len();
    let record = file.records.get(number % count.max(1)).copied()?;
    (record.0 + HEADER_BYTES <= file.bytes.len()).then_some(record)
}

fn change(field: &mut [u8], how: u8) {
    let mut whole = [0; 8];
    whole[..field.len()].copy_from_slice(field);
    let now = u64::from_le_bytes(whole);
    let new = match usize::from(how >> 1) % (EDGES.len() + 4) {
        edge if edge < EDGES.len() => EDGES[edge],
        edge => [now.wrapping_add(1), now.wrapping_sub(1), now << 1, now >> 1][edge - EDGES.len()],
    };
    field.copy_from_slice(&new.to_le_bytes()[..field.len()]);
}

/// Puts a record of one file over one of another, or gives a file another one's name.
fn transplant(files: &mut [File], place: usize, choices: &mut Choices<'_>) {
    let (other, is_whole) = (choices.below(files.len()), choices.byte() & 1 == 0);
    if is_whole {
        let (bytes, records) = (files[place].bytes.clone(), files[place].records.clone());
        (files[other].bytes, files[other].records) = (bytes, records);
        return;
    }
    let (from, to) = (choices.number(), choices.number());
    let (Some((from, _)), Some((to, _))) = (record_of(&files[place], from), record_of(&files[other], to)) else {
        return;
    };
    let length = (files[place].bytes.len() - from).min(files[other].bytes.len() - to).min(400);
    let image = files[place].bytes[from..from + length].to_vec();
    files[other].bytes[to..to + length].copy_from_slice(&image);
}
