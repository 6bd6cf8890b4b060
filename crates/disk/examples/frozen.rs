//! Starts a disk, mounts it in a namespace of its own, freezes it, and waits to be killed: for the test of what a killed owner leaves.
//!
//! Arguments: the program that serves, the disk's settings, an empty folder for the mount. It prints the process ids of the disk
//! and of who has it mounted, or why not.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it tells the test by printing")]

use disk::{FaultSettings, RunningDisk};
use machines::process::{Launch, Process};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);
const HOLD: &str = r#"mount -t ext4 -o loop "$0" "$1" && echo begun > "$1/file" && echo mounted && exec sleep 1000"#;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [serve, settings, folder] = &words[..] else { panic!("three arguments, not {words:?}") };
    let settings = FaultSettings::from_word(settings).unwrap();
    let disk = match RunningDisk::start(&[serve], &settings, LIMIT) {
        Ok(disk) => disk,
        Err(error) => return println!("no disk: {error}"),
    };
    let namespace = ["unshare", "--mount", "--propagation", "private", "sh", "-c", HOLD];
    let launch = Launch::new(&namespace).args([settings.mount.to_str().unwrap(), folder]).stdout(Stdio::piped());
    let mut holder = Process::start(launch).unwrap();
    let mut line = String::new();
    BufReader::new(holder.take_stdout().unwrap()).read_line(&mut line).unwrap();
    if line != "mounted\n" {
        return println!("no mount: it cannot be mounted in a namespace");
    }
    disk.control(LIMIT).unwrap().freeze().unwrap();
    println!("frozen {} {}", disk.identity().pid, holder.identity().pid);
    let _ = std::io::stdin().read(&mut [0]);
}
