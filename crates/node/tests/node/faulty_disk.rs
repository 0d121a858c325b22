//! A disk that is full, or fails to sync, while a flag says so.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lapwing_store::disk::{Intercept, InterceptedDisk, OsDisk};

/// "No space left on device", as Linux numbers it.
const ENOSPC: i32 = 28;

#[derive(Debug)]
struct Full(Arc<AtomicBool>);

impl Intercept for Full {
    fn on_write(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::Error::from_raw_os_error(ENOSPC)) } else { Ok(()) }
    }
}

#[derive(Debug)]
struct FailingSync(Arc<AtomicBool>);

impl Intercept for FailingSync {
    fn on_sync(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::Error::other("a fault of the test")) } else { Ok(()) }
    }
}

#[derive(Debug)]
struct HangingSync(Arc<Mutex<()>>);

impl Intercept for HangingSync {
    fn on_sync(&self) -> io::Result<()> {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

/// The real disk, which does not return from a sync while `hold` is locked.
pub fn hanging_sync_while(hold: Arc<Mutex<()>>) -> Arc<InterceptedDisk> {
    Arc::new(InterceptedDisk::new(Arc::new(OsDisk), Arc::new(HangingSync(hold))))
}

/// The real disk, without space while `full` is set.
pub fn full_when(full: Arc<AtomicBool>) -> Arc<InterceptedDisk> {
    Arc::new(InterceptedDisk::new(Arc::new(OsDisk), Arc::new(Full(full))))
}

/// The real disk, which fails to sync while `failing` is set.
pub fn failing_sync_when(failing: Arc<AtomicBool>) -> Arc<InterceptedDisk> {
    Arc::new(InterceptedDisk::new(Arc::new(OsDisk), Arc::new(FailingSync(failing))))
}
