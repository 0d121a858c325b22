//! Any bytes as frames of a WebSocket.

#![no_main]

use lapwing_transport::oracle::{check_frames, frames_seeds};

lapwing_fuzz::target!(check_frames, frames_seeds);
