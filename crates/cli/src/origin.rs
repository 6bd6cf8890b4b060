//! Which build of bakeoff this is.
//!
//! The revision is what the builder set in `BAKEOFF_REVISION`, as the Makefile does. A build script would run before
//! every build; this way, only this file is compiled again for another revision.

use std::sync::LazyLock;

/// The revision that was checked out, as git describes it; `None` if the build was not given one.
const REVISION: Option<&str> = option_env!("BAKEOFF_REVISION");

static VERSION: LazyLock<String> = LazyLock::new(|| described(env!("CARGO_PKG_VERSION"), REVISION));

/// Version and revision: "0.1.0 (619ca8b)".
pub fn version() -> &'static str {
    &VERSION
}

/// The same with the name before it, for records.
pub fn made_by() -> String {
    format!("bakeoff {}", version())
}

fn described(version: &str, revision: Option<&str>) -> String {
    // Without git, the Makefile passes an empty text.
    match revision.filter(|revision| !revision.is_empty()) {
        Some(revision) => format!("{version} ({revision})"),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_told_where_it_is_known() {
        assert_eq!(described("0.1.0", Some("v0.1-7-g619ca8b-dirty")), "0.1.0 (v0.1-7-g619ca8b-dirty)");
        assert_eq!((described("0.1.0", None), described("0.1.0", Some(""))), ("0.1.0".to_owned(), "0.1.0".to_owned()));
        assert!(made_by().starts_with("bakeoff "));
    }
}
