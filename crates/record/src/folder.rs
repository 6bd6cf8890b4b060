//! The folder of a run: paths, atomic writing, reading back.
