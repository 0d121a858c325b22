//! Any bytes as the head of a WebSocket's upgrade.

#![no_main]

use lapwing_transport::oracle::{check_head, head_seeds};

lapwing_fuzz::target!(check_head, head_seeds);
