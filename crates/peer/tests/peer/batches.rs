//! Batches in parts: what comes together, in which order, and how much of it at a time.

use lapwing_oracle::variants::Random;
use lapwing_peer::bounds::NUMBER_MAX;
use lapwing_peer::{
    Batch, BatchHead, BatchIntake, BatchPart, EncodeError, FaultKind, GroupNumber, List, Record, Window, read_records,
    write_records,
};

use crate::samples::GROUP;

/// A batch of `count` records, and what its entry says.
fn batch(count: usize, first_sequence: u64) -> (BatchHead, Vec<u8>) {
    let records: Vec<_> = (0..count)
        .map(|n| Record { slot: n as u16, message_id: n as u64, appended_at_us: -1, body: &b"some bytes"[..n % 10] })
        .collect();
    let mut run = vec![];
    let bytes = write_records(&List::from_slice(&records), &mut run).unwrap();
    (BatchHead { first_sequence, count: count as u32, bytes }, run)
}

fn part(group: GroupNumber, raft_index: u64, run: &[u8], from: usize, to: usize) -> BatchPart<'_> {
    let bytes = &run[from..to];
    BatchPart { group, term: 1, raft_index, total_bytes: run.len() as u32, first_byte: from as u32, bytes }
}

fn kind<T>(result: Result<T, lapwing_peer::Fault>) -> Result<T, FaultKind> {
    result.map_err(|fault| fault.kind)
}

/// Is a batch there only when its last byte has come, and then once?
#[test]
fn parts_come_together() {
    let (head, run) = batch(5, 100);
    let mut intake = BatchIntake::new(1 << 20);
    for at in 0..run.len() {
        assert_eq!(kind(intake.take(GROUP, 1, 9, head)), Err(FaultKind::MissingBatch), "{at} bytes");
        intake.part(&part(GROUP, 9, &run, at, at + 1)).unwrap();
    }
    let whole = intake.take(GROUP, 1, 9, head).unwrap();
    assert_eq!((whole.head(), whole.bytes()), (head, &run[..]));
    assert_eq!(whole.records(), read_records(&run).unwrap());
    assert_eq!(kind(intake.take(GROUP, 1, 9, head)), Err(FaultKind::MissingBatch));
    assert!(intake.under_way_bytes() > 0 && intake.done_bytes() == 0);
    intake.finish(head);
    assert_eq!((intake.under_way_bytes(), intake.done_bytes()), (0, u64::from(head.bytes) + 64));
}

#[test]
fn parts_that_do_not_follow_each_other_are_a_gap() {
    let (_, run) = batch(3, 1);
    let middle = run.len() / 2;
    let wrong = [
        part(GROUP, 9, &run, middle + 1, run.len()),
        part(GROUP, 9, &run, 0, middle),
        part(GROUP, 10, &run, middle, run.len()),
        BatchPart { term: 2, ..part(GROUP, 9, &run, middle, run.len()) },
        BatchPart { total_bytes: run.len() as u32 + 1, ..part(GROUP, 9, &run, middle, run.len()) },
    ];
    for second in wrong {
        let mut intake = BatchIntake::new(1 << 20);
        assert_eq!(kind(intake.part(&part(GROUP, 9, &run, 1, middle))), Err(FaultKind::Gap), "no beginning");
        intake.part(&part(GROUP, 9, &run, 0, middle)).unwrap();
        assert_eq!(kind(intake.part(&second)), Err(FaultKind::Gap), "{second:?}");
        assert_eq!(kind(intake.part(&part(GROUP, 9, &run, middle, run.len()))), Ok(()), "nothing was changed");
    }
}

#[test]
fn a_batch_is_what_its_entry_says() {
    let (head, run) = batch(3, 1);
    let wrong =
        [BatchHead { bytes: head.bytes + 1, ..head }, BatchHead { count: 2, ..head }, BatchHead { count: 4, ..head }];
    let taken = |term: u64, index: u64, head: BatchHead, run: &[u8]| {
        let mut intake = BatchIntake::new(1 << 20);
        intake.part(&part(GROUP, 9, run, 0, run.len())).unwrap();
        kind(intake.take(GROUP, term, index, head).map(|_| ()))
    };
    assert_eq!(taken(1, 9, head, &run), Ok(()));
    assert_eq!(taken(1, 10, head, &run), Err(FaultKind::MissingBatch));
    assert_eq!(taken(2, 9, head, &run), Err(FaultKind::MissingBatch));
    wrong.into_iter().for_each(|head| assert_eq!(taken(1, 9, head, &run), Err(FaultKind::Malformed)));
    let mut no_records = run.clone();
    no_records[6] = 1;
    assert_eq!(taken(1, 9, head, &no_records), Err(FaultKind::Malformed));
    no_records[..8].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
    assert_eq!(taken(1, 9, head, &no_records), Err(FaultKind::CutShort));
}

/// Is a sender that keeps its books never at fault, and one that does not cut at once?
#[test]
fn nobody_sends_more_than_there_is_room_for() {
    let (head, run) = batch(10, 1);
    let mut intake = BatchIntake::new(2 * (u64::from(head.bytes) + 64));
    for index in 1..=2 {
        intake.part(&part(GROUP, index, &run, 0, run.len())).unwrap();
    }
    let third = part(GROUP, 3, &run, 0, run.len());
    assert_eq!(kind(intake.part(&third)), Err(FaultKind::Window));
    intake.take(GROUP, 1, 1, head).unwrap();
    assert_eq!(kind(intake.part(&third)), Err(FaultKind::Window), "what is not written is held");
    intake.finish(head);
    assert_eq!(kind(intake.part(&third)), Ok(()));
    let mut narrow = BatchIntake::new(0);
    assert_eq!(kind(narrow.part(&third)), Ok(()), "one goes always");
}

/// A sender with many batches in many groups, cut anywhere, mixed in any order that it may choose, against a window: does all
/// come as it was, and does it all come?
#[test]
fn any_order_that_a_sender_may_choose() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let window_bytes = random.below(2000) as u64;
        let (mut window, mut intake) = (Window::new(window_bytes), BatchIntake::new(window_bytes));
        let mut lines: Vec<Line> = (0..4).map(|number| Line::new(number, &mut random)).collect();
        let mut written = vec![];
        while lines.iter().any(|line| !line.is_done()) {
            let line = &mut lines[random.below(4)];
            written.extend(line.step(&mut window, &mut intake, &mut random));
            if random.below(3) == 0 {
                written.drain(..).for_each(|head| intake.finish(head));
                window.hear(intake.done_bytes()).unwrap();
                assert_eq!(window.under_way_bytes(), intake.under_way_bytes(), "seed {seed}");
            }
        }
    }
}

/// One group's batches, and how far they have gone.
struct Line {
    group: GroupNumber,
    batches: Vec<(BatchHead, Vec<u8>)>,
    next: usize,
    sent_bytes: usize,
}

impl Line {
    fn new(number: u8, random: &mut Random) -> Self {
        let batches = (0..random.below(6)).map(|n| batch(1 + random.below(9), n as u64)).collect();
        Line { group: GroupNumber::new(number).unwrap(), batches, next: 0, sent_bytes: 0 }
    }

    fn is_done(&self) -> bool {
        self.next == self.batches.len()
    }

    /// Sends a part, or the entry behind the last one: then the batch is taken out.
    fn step(&mut self, window: &mut Window, intake: &mut BatchIntake, random: &mut Random) -> Option<BatchHead> {
        let (head, run) = self.batches.get(self.next)?;
        let index = self.next as u64;
        if self.sent_bytes == run.len() {
            let taken = intake.take(self.group, 1, index, *head).expect("it was sent");
            assert_eq!(taken.bytes(), run);
            (self.next, self.sent_bytes) = (self.next + 1, 0);
            return Some(*head);
        }
        if self.sent_bytes == 0 && !window.has_room(head.bytes) {
            return None;
        }
        if self.sent_bytes == 0 {
            window.begin(head.bytes);
        }
        let to = (self.sent_bytes + 1 + random.below(100)).min(run.len());
        intake.part(&part(self.group, index, run, self.sent_bytes, to)).expect("the sender keeps its books");
        self.sent_bytes = to;
        None
    }
}

/// Is a batch made of records the one that its parts give on the other side?
#[test]
fn a_batch_of_records_is_the_one_that_comes() {
    let (head, run) = batch(5, 100);
    let made = Batch::of(100, &read_records(&run).unwrap()).unwrap();
    assert_eq!((made.head(), made.bytes()), (head, &run[..]));
    let lengths = made.records().iter().map(|record| record.encoded_bytes());
    assert_eq!(lengths.sum::<usize>(), run.len());
    let mut intake = BatchIntake::new(1 << 20);
    intake.part(&part(GROUP, 9, &run, 0, run.len())).unwrap();
    assert_eq!(intake.take(GROUP, 1, 9, head).unwrap(), made);
    let slice: Vec<_> = made.records().iter().collect();
    assert_eq!(Batch::of(100, &List::from_slice(&slice)).unwrap(), made);
}

#[test]
fn what_no_entry_can_name_is_no_batch() {
    let (_, run) = batch(5, 1);
    let records = read_records(&run).unwrap();
    let last = NUMBER_MAX - 5;
    assert!(Batch::of(last, &records).is_ok());
    for (first, records) in [(last + 1, records), (u64::MAX, records), (1, List::EMPTY)] {
        assert!(matches!(Batch::of(first, &records), Err(EncodeError::Impossible(_))), "{first}");
    }
}
