//! Real machines: bubblewrap, QEMU, Debian's kernels and our own agent in them.
//!
//! Where QEMU or mmdebstrap is missing these are skipped, loudly; under `REQUIRE=qemu` that is a failure.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod accelerator;
mod bare;
mod conformance;
mod isolation;
mod leftovers;
mod native;
mod place;
mod placed;
mod qemu;
mod qmp;
