//! Programs that only the checks need. One that is not installed is built once into the target folder.

use super::phases::run;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A subcommand of cargo from a crate of its own.
pub struct CargoTool {
    pub crate_name: &'static str,
    pub subcommand: &'static str,
    /// The least that is enough, and the one that is built.
    pub version: &'static str,
    pub options: &'static [&'static str],
}

/// Each test is a process, and all of them share the CPUs as `.config/nextest.toml` says.
pub const NEXTEST: CargoTool = CargoTool {
    crate_name: "cargo-nextest",
    subcommand: "nextest",
    version: "0.9.151",
    // Without a part that replaces the program by a newer one.
    options: &["--no-default-features", "--features", "default-no-update"],
};

/// Breaks the code in small ways, and looks whether a test fails.
pub const MUTANTS: CargoTool =
    CargoTool { crate_name: "cargo-mutants", subcommand: "mutants", version: "27.1.0", options: &[] };

impl CargoTool {
    pub fn program(&self, root: &Path) -> anyhow::Result<PathBuf> {
        let tools = target(root).join("tools");
        let own = tools.join("bin").join(self.crate_name);
        for program in [Path::new(self.crate_name), &own] {
            if self.version_of(program).is_some_and(|found| is_enough(&found, self.version)) {
                return Ok(program.to_owned());
            }
        }
        let tools = tools.to_string_lossy();
        let package = format!("{}@{}", self.crate_name, self.version);
        let words = [&["install", "--locked", "--debug", "--root", &tools, &package], self.options].concat();
        // Not in the project's folder, whose settings for the compiler are not meant for it.
        let command = &mut Command::new("cargo");
        command.args(&words).current_dir("/").env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
        run(command, &format!("cargo {}", words.join(" ")))?;
        Ok(own)
    }

    fn version_of(&self, program: &Path) -> Option<String> {
        let output = Command::new(program).args([self.subcommand, "--version"]).output().ok()?;
        let said = String::from_utf8(output.stdout).ok()?;
        said.split_whitespace().nth(1).map(str::to_owned)
    }
}

fn is_enough(found: &str, least: &str) -> bool {
    let numbers = |version: &str| version.split('.').map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
    numbers(found) >= numbers(least)
}

/// Where cargo builds.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let is_enough = |found| is_enough(found, "0.9.151");
        assert!(is_enough("0.9.151") && is_enough("0.10.2") && is_enough("1.0.0"));
        assert!(!is_enough("0.9.99") && !is_enough("no version"));
    }
}
