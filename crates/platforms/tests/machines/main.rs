//! Real machines: bubblewrap, QEMU, Debian's kernels and our own agent inside.
//!
//! Without QEMU or mmdebstrap these tests are skipped with a message; under `REQUIRE=qemu` that is a failure. `REQUIRE=libvirt,oci,ssh`
//! asks for libvirt, for the runtimes of containers and for an ssh server in the same way.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod accelerator;
mod bare;
mod conformance;
mod daemons;
mod disks;
mod host;
mod host_here;
mod leftovers;
mod libvirt;
mod native;
mod oci;
mod place;
mod placed;
mod qemu;
mod qmp;
mod sshd;
mod vcsim;
mod vsphere;
