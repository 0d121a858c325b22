//! Any bytes as the first of a connection from a proxy.

#![no_main]

use lapwing_transport::oracle::{check_proxy, proxy_seeds};

lapwing_fuzz::target!(check_proxy, proxy_seeds);
