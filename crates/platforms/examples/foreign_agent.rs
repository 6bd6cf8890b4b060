//! The agent of another version of bakeoff, for this crate's tests. It greets with a different protocol version and
//! then waits until its input is closed.

use machines::frame::{Greeting, PROTOCOL, write_frame};
use std::io::Read;

fn main() -> std::io::Result<()> {
    let greeting = Greeting { protocol: PROTOCOL + 1, version: "99.0.0".to_owned() };
    write_frame(&mut std::io::stdout(), &greeting)?;
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
