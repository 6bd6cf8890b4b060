//! A disk that can lose power, served by a process of its own through the kernel.
//!
//! Without FUSE these tests are skipped with a message; under `REQUIRE=fuse` they fail instead. Those that mount a file system on
//! the disk must be started by root (`REQUIRE=root`), and one needs QEMU's storage daemon (`REQUIRE=qemu`).

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say what they skip")]

mod life;
mod orders;
mod place;
mod qemu;
mod requests;
mod sqlite;
