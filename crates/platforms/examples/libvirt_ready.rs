//! Says whether a libvirt answers at the URI that is its argument, for this crate's tests as another user.

#![allow(clippy::print_stdout)]

fn main() {
    let uri = std::env::args().nth(1).unwrap_or_default();
    match platforms::libvirt::ready::answering(&uri) {
        Ok(what) => println!("{what}"),
        Err(why) => println!("{why}"),
    }
}
