//! A data folder whose files say anything: opened, looked at, mended and written on.

#![no_main]

#[path = "../../crates/store/tests/any_bytes/folder.rs"]
mod folder;
#[path = "../../crates/store/tests/any_bytes/oracle.rs"]
mod oracle;
#[path = "../../crates/store/tests/any_bytes/spoil.rs"]
mod spoil;

lapwing_fuzz::target!(oracle::check_folder, oracle::folder_seeds);
