//! Sets space aside beside the thread that writes the journal, and fills it with zeros: a commit never waits for an
//! allocation.

use std::collections::VecDeque;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use super::fill::Fill;
use super::room_order::{RoomMade, RoomOrder};
use super::writer::JournalWriter;
use crate::error::StoreError;

/// Writing zeros rests so many times as long as it has taken, so that the disk is there for commits.
const REST: u32 = 7;

/// The thread, and its way in and out. Ends when it is dropped.
#[derive(Debug)]
pub struct RoomThread {
    /// None: it is told to end.
    orders: Option<SyncSender<RoomOrder>>,
    made: Receiver<RoomMade>,
    thread: Option<JoinHandle<()>>,
}

impl RoomThread {
    /// # Errors
    /// No thread can be had.
    pub fn start() -> io::Result<Self> {
        let (orders, waiting) = sync_channel::<RoomOrder>(1);
        let (done, made) = sync_channel(1);
        let work = move || {
            let mut filling = Filling::default();
            while let Some(order) = next_order(&waiting, &mut filling) {
                let mut made: RoomMade = order.carry_out();
                filling.take(&mut made);
                if done.send(made).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("lapwing-room".into()).spawn(work)?;
        Ok(RoomThread { orders: Some(orders), made, thread: Some(thread) })
    }

    /// Tells the writer what has been set aside, and takes its next order. Never waits.
    ///
    /// # Errors
    /// As [`JournalWriter::room_made`].
    pub fn tend(&mut self, writer: &mut JournalWriter) -> Result<(), StoreError> {
        match self.made.try_recv() {
            Ok(made) => writer.room_made(made)?,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.fail(),
        }
        // There is one order at a time, so the channel has room for it.
        if let Some(order) = writer.room_order()
            && self.orders.as_ref().is_none_or(|orders| orders.send(order).is_err())
        {
            self.fail();
        }
        Ok(())
    }

    /// It has ended before it was told to: its panic goes on here, and ends the node.
    fn fail(&mut self) -> ! {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => resume_unwind(panic),
            _ => panic!("the thread that sets space aside has ended"),
        }
    }
}

/// What is to be filled: the segment that is being written first, then the one behind it.
#[derive(Default)]
struct Filling {
    /// In order.
    active: VecDeque<Fill>,
    spare: Option<Fill>,
}

impl Filling {
    fn take(&mut self, made: &mut RoomMade) {
        self.active.extend(made.take_active_fill());
        self.spare = made.take_spare_fill().or(self.spare.take());
    }

    fn is_over(&self) -> bool {
        self.active.is_empty() && self.spare.is_none()
    }

    /// Writes a piece, or finds that there is none to write.
    fn step(&mut self) {
        if let Some(fill) = self.active.front_mut() {
            if !fill.step() {
                self.active.pop_front();
            }
        } else if let Some(fill) = &mut self.spare
            && !fill.step()
        {
            self.spare = None;
        }
    }
}

/// Waits for an order, and fills what is to be filled meanwhile; None: there will be no more.
fn next_order(waiting: &Receiver<RoomOrder>, filling: &mut Filling) -> Option<RoomOrder> {
    while !filling.is_over() {
        let begun = Instant::now();
        filling.step();
        match waiting.recv_timeout(begun.elapsed() * REST) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    waiting.recv().ok()
}

impl Drop for RoomThread {
    /// Nothing may write in the folder when the journal has been closed.
    fn drop(&mut self) {
        self.orders = None;
        // A panic of it was printed when it happened, and the node is ending.
        drop(self.thread.take().map(JoinHandle::join));
    }
}
