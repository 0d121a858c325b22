//! A broker without Python: `cargo run --release --example broker -- '{"shards": 1}'`. Ends when its input does.

use std::io::Read;
use std::time::Duration;

use lapwing_node::{Config, Handle, NodeError, metrics_text};

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error}: {}", error.remedy());
        std::process::exit(1);
    }
}

fn run() -> Result<(), NodeError> {
    let json = std::env::args().nth(1).unwrap_or_else(|| "{}".into());
    let node = Handle::start(Config::from_json(&json)?)?;
    for url in node.listeners() {
        println!("{url}");
    }
    let mut rest = Vec::new();
    // Whatever ends the input, an error too, ends the broker.
    let _ = std::io::stdin().read_to_end(&mut rest);
    node.drain(Duration::from_secs(5))?;
    print!("{}", metrics_text(&node.metrics()));
    node.stop()
}
