//! The agent of another version of bakeoff, for this crate's tests: it greets with a protocol that is not ours and then
//! waits to be hung up on.

use machines::frame::{Greeting, PROTOCOL, write_frame};
use std::io::Read;

fn main() -> std::io::Result<()> {
    let greeting = Greeting { protocol: PROTOCOL + 1, version: "99.0.0".to_owned() };
    write_frame(&mut std::io::stdout(), &greeting)?;
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
