//! Any datagrams, of several addresses, at any point of handshakes of DTLS and behind them.

#![no_main]

use lapwing_transport::oracle::{check_dtls, dtls_seeds};

lapwing_fuzz::target!(check_dtls, dtls_seeds);
