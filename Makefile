# What a newcomer types. Everything else is `cargo xtask` (chores) and `bakeoff --help`.

# The target is fixed in .cargo/config.toml, because the same binary is the agent inside every machine.
CARGO_TARGET_DIR ?= target
bakeoff = $(CARGO_TARGET_DIR)/x86_64-unknown-linux-gnu/release/bakeoff

.PHONY: help quickstart build test lint dist packages test-packages install-packages rust

help:
	@echo "make quickstart   install what is missing, build, and compare native with a VM in a few minutes"
	@echo "make build        build $(bakeoff)"
	@echo "make test         run the default tests; REQUIRE=postgres,mariadb,qemu,libvirt,oci,ssh,nats,slurm,vcsim,root,fuse,python makes a skipped test a failure"
	@echo "make lint         formatting, tidy and clippy"
	@echo "make dist         pack the release binary: an archive, a Debian package and their checksums"
	@echo "make packages     install the Debian packages needed for running (test-packages: for testing too)"

quickstart: packages build
	$(bakeoff) run studies/quickstart.toml

build: rust
	BAKEOFF_REVISION="$$(git describe --always --dirty 2>/dev/null)" cargo build --release --package bakeoff

test: rust
	cargo xtask test

lint: rust
	cargo xtask lint

dist: rust
	cargo xtask dist

packages:
	@scripts/packages

test-packages:
	@scripts/packages --tests

install-packages: test-packages

rust:
	@command -v cargo >/dev/null || { echo "cargo was not found: install Rust 1.95 or newer, for example with rustup, and try again" >&2; exit 1; }
