//! Recipes: what goes into an image, as data.
//!
//! The recipes in the project's `images/` folder are part of the binary. A folder that the user names, in a study or with
//! `bakeoff image --recipes`, may add to them or replace one of the same name. This file reads and checks recipes; it builds nothing.

use serde::Deserialize;
use settings::nearest;
use std::path::{Path, PathBuf};

/// Recipes that are part of the binary: name and text.
const BUILT_IN: &[(&str, &str)] = &[
    ("mariadb", include_str!("../../../images/mariadb.toml")),
    ("mariadb-11.8", include_str!("../../../images/mariadb-11.8.toml")),
    ("micro", include_str!("../../../images/micro.toml")),
    ("postgres", include_str!("../../../images/postgres.toml")),
    ("postgres-17", include_str!("../../../images/postgres-17.toml")),
    ("postgres-18", include_str!("../../../images/postgres-18.toml")),
];

/// Every key of a recipe and of its `[[file]]` tables, for "did you mean" suggestions.
const KEYS: &[&str] = &[
    "about",
    "engine",
    "version",
    "suite",
    "mirror",
    "keyring",
    "allow_expired",
    "packages",
    "excludes",
    "file",
    "path",
    "text",
];

/// What goes into an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipe {
    /// The file's name without `.toml`.
    pub name: String,
    /// One line for `bakeoff image list`.
    pub about: String,
    /// The engine whose server is in it, and the server's version: what a study can ask for.
    pub engine: Option<String>,
    pub version: Option<String>,
    /// Debian's name for the release; `None` if the image has nothing of Debian's.
    pub suite: Option<String>,
    /// The archive that packages come from; unless given, the one that this host's apt uses.
    pub mirror: Option<String>,
    /// The keys that the archive is signed with; unless given, the host's.
    pub keyring: Option<PathBuf>,
    /// Whether the archive's list of packages may be past its date, as lists of the past and of the newest release are.
    pub allow_expired: bool,
    /// Packages to install, with their dependencies. If there are none, the agent is the whole user space.
    pub packages: Vec<String>,
    /// Paths (shell patterns) that the image leaves out, although packages have them.
    pub excludes: Vec<String>,
    /// Files that are put in place before any package is configured.
    pub files: Vec<RecipeFile>,
    /// The recipe as written; its hash is part of the image's identity.
    pub text: String,
}

/// A small text file of an image.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFile {
    /// Absolute path in the image.
    pub path: PathBuf,
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeText {
    about: String,
    engine: Option<String>,
    version: Option<String>,
    suite: Option<String>,
    mirror: Option<String>,
    keyring: Option<PathBuf>,
    #[serde(default)]
    allow_expired: bool,
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default)]
    excludes: Vec<String>,
    #[serde(default, rename = "file")]
    files: Vec<RecipeFile>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    #[error("{}:{line}: {problem}{}", .file.display(), did_you_mean(.nearest.as_deref()))]
    Invalid { file: PathBuf, line: usize, problem: String, nearest: Option<String> },
    #[error("there is no image `{name}`{}; there are: {}", did_you_mean(.nearest.as_deref()), .known.join(", "))]
    Unknown { name: String, nearest: Option<String>, known: Vec<String> },
    #[error("cannot read recipes in {}: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
}

pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default()
}

/// All recipes by name: those of the binary, plus those of the user's folder, which replace any of the same name.
pub fn catalog(folder: Option<&Path>) -> Result<Vec<Recipe>, RecipeError> {
    let mut recipes = Vec::new();
    for (name, text) in BUILT_IN {
        recipes.push(parse(name, &PathBuf::from(format!("images/{name}.toml")), text)?);
    }
    let mut recipes = replaced(recipes, folder.map(in_folder).transpose()?.unwrap_or_default());
    recipes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(recipes)
}

/// These recipes, then the user's own, which replace any of the same name.
pub fn replaced(mut recipes: Vec<Recipe>, own: Vec<Recipe>) -> Vec<Recipe> {
    recipes.retain(|known| own.iter().all(|recipe| recipe.name != known.name));
    recipes.extend(own);
    recipes
}

/// The recipe of this name and text. `file` is only used in errors.
pub fn of_text(name: &str, text: &str) -> Result<Recipe, RecipeError> {
    parse(name, &PathBuf::from(format!("{name}.toml")), text)
}

/// The recipe with that name.
pub fn find(name: &str, folder: Option<&Path>) -> Result<Recipe, RecipeError> {
    let recipes = catalog(folder)?;
    let known: Vec<String> = recipes.iter().map(|recipe| recipe.name.clone()).collect();
    recipes.into_iter().find(|recipe| recipe.name == name).ok_or_else(|| RecipeError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
        known,
    })
}

/// The recipes in a folder of the user, in the order of their names.
pub fn in_folder(folder: &Path) -> Result<Vec<Recipe>, RecipeError> {
    let unreadable = |path: &Path, cause| RecipeError::Unreadable { path: path.to_owned(), cause };
    let mut recipes = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|cause| unreadable(folder, cause))? {
        let path = entry.map_err(|cause| unreadable(folder, cause))?.path();
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|cause| unreadable(&path, cause))?;
        recipes.push(parse(name, &path, &text)?);
    }
    recipes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(recipes)
}

/// Reads one recipe; `file` is only used in errors.
fn parse(name: &str, file: &Path, text: &str) -> Result<Recipe, RecipeError> {
    let invalid =
        |line, problem: String, nearest| RecipeError::Invalid { file: file.to_owned(), line, problem, nearest };
    let read: RecipeText = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let word = text.get(span.clone()).unwrap_or_default();
        let suggestion =
            error.message().starts_with("unknown field").then(|| nearest(word, KEYS.iter().copied())).flatten();
        invalid(line_of(text, span.start), error.message().to_owned(), suggestion.map(str::to_owned))
    })?;
    let recipe = Recipe {
        name: name.to_owned(),
        about: read.about,
        engine: read.engine,
        version: read.version,
        suite: read.suite,
        mirror: read.mirror,
        keyring: read.keyring,
        allow_expired: read.allow_expired,
        packages: read.packages,
        excludes: read.excludes,
        files: read.files,
        text: text.to_owned(),
    };
    match problem_of(&recipe) {
        Some((word, problem)) => Err(invalid(line_of(text, text.find(word.as_str()).unwrap_or(0)), problem, None)),
        None => Ok(recipe),
    }
}

/// What is wrong with a recipe beyond its syntax, and the words by which to find the line.
fn problem_of(recipe: &Recipe) -> Option<(String, String)> {
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.:".contains(c));
    if let Some(suite) = recipe.suite.as_ref().filter(|suite| !is_word(suite)) {
        return Some(("suite".into(), format!("`{suite}` is not the name of a Debian release")));
    }
    let is_version = |text: &&String| text.split('.').all(|number| number.parse::<u32>().is_ok());
    if let Some(version) = recipe.version.as_ref().filter(|version| !is_version(version)) {
        return Some(("version".into(), format!("`{version}` is no version such as 17 or 11.8")));
    }
    if recipe.version.is_some() && recipe.engine.is_none() {
        return Some(("version".into(), "a version needs an `engine`, whose server it is of".into()));
    }
    let is_address = |text: &&String| text.contains("://") && !text.contains([' ', '\t', '\n', '[', ']']);
    if let Some(mirror) = recipe.mirror.as_ref().filter(|mirror| !is_address(mirror)) {
        return Some(("mirror".into(), format!("`{mirror}` is not the address of an archive")));
    }
    if let Some(keyring) = recipe.keyring.as_ref().filter(|path| !path.is_absolute() || !is_plain_word(path)) {
        let problem = format!("`{}` must be an absolute path without spaces and brackets", keyring.display());
        return Some(("keyring".into(), problem));
    }
    if !recipe.packages.is_empty() && recipe.suite.is_none() {
        return Some(("packages".into(), "packages need a `suite`, the Debian release they come from".into()));
    }
    if let Some(package) = recipe.packages.iter().find(|package| !is_word(package)) {
        return Some((package.clone(), format!("`{package}` is not the name of a Debian package")));
    }
    if let Some(pattern) = recipe.excludes.iter().find(|pattern| !pattern.starts_with('/')) {
        return Some((pattern.clone(), format!("`{pattern}` must begin with `/`")));
    }
    let is_plain = |path: &Path| path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..");
    let file = recipe.files.iter().find(|file| !is_plain(&file.path))?;
    let path = file.path.display().to_string();
    let problem = format!("`{path}` must be an absolute path in the image, without `..`");
    Some((path, problem))
}

/// apt's one-line entries end an option at such characters.
fn is_plain_word(path: &Path) -> bool {
    !path.display().to_string().contains([' ', '\t', '\n', '[', ']', '"'])
}

/// The line number, from 1, of a byte of the text.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&b| b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn error_of(text: &str) -> String {
        parse("mine", Path::new("my/mine.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn built_in_recipes_are_valid() {
        let recipes = catalog(None).unwrap();
        let told = recipes.iter().map(|recipe| {
            let server =
                format!("{} {}", recipe.engine.as_deref().unwrap_or("-"), recipe.version.as_deref().unwrap_or("-"));
            let suite = recipe.suite.as_deref().unwrap_or("-");
            format!("{}: {server}, {suite}, {}: {}", recipe.name, recipe.packages.join(" "), recipe.about)
        });
        assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @"
        mariadb: mariadb 10.11, bookworm, mariadb-server-core mariadb-client-core: Debian 12 with the MariaDB 10.11 server
        mariadb-11.8: mariadb 11.8, trixie, mariadb-server-core mariadb-client-core: Debian 13 with the MariaDB 11.8 server
        micro: - -, -, : no distribution at all; for embedded databases
        postgres: postgres 15, bookworm, postgresql-15: Debian 12 with the PostgreSQL 15 server
        postgres-17: postgres 17, trixie, postgresql-17: Debian 13 with the PostgreSQL 17 server
        postgres-18: postgres 18, sid, postgresql-18: Debian sid with the PostgreSQL 18 server
        ");
        let expired: Vec<&str> = recipes.iter().filter(|one| one.allow_expired).map(|one| one.name.as_str()).collect();
        assert_eq!(expired, ["postgres-18"]);
        assert!(recipes.iter().all(|recipe| recipe.mirror.is_none() && recipe.keyring.is_none()));
    }

    #[test]
    fn errors_name_file_line_and_nearest_word() {
        let texts = [
            "about = 'x'\npakages = []\n",
            "about = 'x'\nsuite = 3\n",
            "suite = 'bookworm'\n",
            "about = 'x'\n\n[[file]]\npath = '/a'\ntxt = ''\n",
            "about = 'x'\npackages = ['a']\n",
            "about = 'x'\nsuite = 's'\npackages = [\n 'a b' ]\n",
            "about = 'x'\nexcludes = ['usr/*']\n",
            "about = 'x'\n[[file]]\npath = '/etc/../../x'\ntext = ''\n",
            "about = 'x\n",
            "about = 'x'\nkey_ring = '/a'\n",
            "about = 'x'\nengine = 'postgres'\nversion = '17beta1'\n",
            "about = 'x'\nversion = '17'\n",
            "about = 'x'\nmirror = 'deb http://mirror.example/debian sid main'\n",
            "about = 'x'\nkeyring = 'keys.gpg'\n",
        ];
        assert_snapshot!(texts.map(error_of).join("\n"), @r#"
        my/mine.toml:2: unknown field `pakages`, expected one of `about`, `engine`, `version`, `suite`, `mirror`, `keyring`, `allow_expired`, `packages`, `excludes`, `file` (did you mean `packages`?)
        my/mine.toml:2: invalid type: integer `3`, expected a string
        my/mine.toml:1: missing field `about`
        my/mine.toml:5: unknown field `txt`, expected `path` or `text` (did you mean `text`?)
        my/mine.toml:2: packages need a `suite`, the Debian release they come from
        my/mine.toml:4: `a b` is not the name of a Debian package
        my/mine.toml:2: `usr/*` must begin with `/`
        my/mine.toml:3: `/etc/../../x` must be an absolute path in the image, without `..`
        my/mine.toml:1: invalid literal string, expected `'`
        my/mine.toml:2: unknown field `key_ring`, expected one of `about`, `engine`, `version`, `suite`, `mirror`, `keyring`, `allow_expired`, `packages`, `excludes`, `file` (did you mean `keyring`?)
        my/mine.toml:3: `17beta1` is no version such as 17 or 11.8
        my/mine.toml:2: a version needs an `engine`, whose server it is of
        my/mine.toml:2: `deb http://mirror.example/debian sid main` is not the address of an archive
        my/mine.toml:2: `keys.gpg` must be an absolute path without spaces and brackets
        "#);
    }

    #[test]
    fn a_missing_recipe_is_answered_with_the_nearest() {
        let errors = ["postgress", "zz"].map(|name| find(name, None).unwrap_err().to_string());
        assert_snapshot!(errors.join("\n"), @r#"
        there is no image `postgress` (did you mean `postgres`?); there are: mariadb, mariadb-11.8, micro, postgres, postgres-17, postgres-18
        there is no image `zz`; there are: mariadb, mariadb-11.8, micro, postgres, postgres-17, postgres-18
        "#);
    }

    #[test]
    fn a_users_folder_replaces_and_adds() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("micro.toml"), "about = 'mine'\n").unwrap();
        std::fs::write(folder.path().join("other.toml"), "about = 'other'\n").unwrap();
        std::fs::write(folder.path().join("README"), "not a recipe").unwrap();
        let recipes = catalog(Some(folder.path())).unwrap();
        let shown: Vec<(&str, &str)> = recipes.iter().map(|r| (r.name.as_str(), r.about.as_str())).collect();
        assert_eq!(shown.len(), BUILT_IN.len() + 1);
        assert!(shown.contains(&("micro", "mine")) && shown.contains(&("other", "other")), "{shown:?}");
    }
}
