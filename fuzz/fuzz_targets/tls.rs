//! Any bytes as the first of a TLS connection.

#![no_main]

use lapwing_transport::oracle::{check_tls, tls_seeds};

lapwing_fuzz::target!(check_tls, tls_seeds);
