//! The image of a machine: the one that the study names, or the one with the server that it asks for.

use crate::catalogs::Kind;
use crate::problems::{Flaw, quoted};
use engines::programs::VERSION;
use engines::version::ServerVersion;
use images::Recipe;
use settings::nearest;

/// What a cell says of its image and its server.
#[derive(Debug, Clone, Copy)]
pub struct ImageWish<'a> {
    pub engine: &'a Kind,
    /// `engine.version`.
    pub version: Option<&'a str>,
    /// `machine.image`.
    pub named: Option<&'a str>,
    /// Whether machines are made from images. Otherwise the version is looked for where the server is installed.
    pub is_used: bool,
}

/// A key with a value that does not fit: its path, the value, what is expected, and the nearest right word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageMisfit {
    pub path: &'static str,
    pub value: String,
    pub expected: String,
    pub nearest: Option<String>,
}

impl ImageMisfit {
    fn of_version(value: &str, expected: String) -> Self {
        Self { path: "engine.version", value: value.to_owned(), expected, nearest: None }
    }

    pub fn in_line(self, line: Option<usize>) -> Flaw {
        let flaw = Flaw::new(line, self.path, format!("found \"{}\"", self.value), self.expected);
        flaw.with_nearest(self.nearest.as_deref())
    }
}

/// The name of the recipe that the machines are made from.
pub fn choose(wish: ImageWish<'_>, recipes: &[Recipe]) -> Result<String, ImageMisfit> {
    let version = wish.version.map(|version| asked(wish, version)).transpose()?;
    let Some(image) = wish.named else {
        return match version.filter(|_| wish.is_used) {
            Some(version) => newest(wish, &version, recipes),
            None => Ok(default_image(wish.engine.kind).to_owned()),
        };
    };
    let names = || recipes.iter().map(|recipe| recipe.name.as_str());
    let recipe = recipes.iter().find(|recipe| recipe.name == image).ok_or_else(|| ImageMisfit {
        path: "machine.image",
        value: image.to_owned(),
        expected: quoted(names()),
        nearest: nearest(image, names()).map(str::to_owned),
    })?;
    match (version.filter(|_| wish.is_used), of_engine(recipe, wish.engine.kind)) {
        (Some(version), Some(has)) if !may_be(&has, &version) => {
            let expected = format!("\"{has}\", the version in machine.image = \"{image}\", or no machine.image");
            Err(ImageMisfit::of_version(&version.to_string(), expected))
        }
        _ => Ok(image.to_owned()),
    }
}

fn asked(wish: ImageWish<'_>, version: &str) -> Result<ServerVersion, ImageMisfit> {
    if !wish.engine.remote {
        let expected = format!("no such key, because {} is part of bakeoff, in one version", wish.engine.kind);
        return Err(ImageMisfit::of_version(version, expected));
    }
    let expected = || "a version such as \"17\" or \"11.8\"".to_owned();
    ServerVersion::asked(version).ok_or_else(|| ImageMisfit::of_version(version, expected()))
}

/// The recipe with the newest server of the asked version. Of several, the last one, since recipes of the study's own
/// folder come last.
fn newest(wish: ImageWish<'_>, asked: &ServerVersion, recipes: &[Recipe]) -> Result<String, ImageMisfit> {
    let kind = wish.engine.kind;
    let mut there: Vec<(ServerVersion, &str)> =
        recipes.iter().filter_map(|recipe| Some((of_engine(recipe, kind)?, recipe.name.as_str()))).collect();
    there.sort_by(|(one, _), (other, _)| one.cmp(other));
    let newest = there.iter().rfind(|(version, _)| may_be(version, asked));
    newest.map(|(_, name)| (*name).to_owned()).ok_or_else(|| {
        let versions: Vec<String> = there.iter().map(|(version, _)| version.to_string()).collect();
        let versions = quoted(versions.iter().map(String::as_str));
        let expected = format!("{versions}, or a recipe of your own with {VERSION} = \"{asked}\" (key recipes)");
        ImageMisfit::of_version(&asked.to_string(), expected)
    })
}

/// Whether an image with this version may have the asked one. Recipes say no more than a package's name; a version that is
/// asked for more exactly is looked for when the server starts.
fn may_be(has: &ServerVersion, asked: &ServerVersion) -> bool {
    has.is_of(asked) || asked.is_of(has)
}

/// The version of this engine's server in an image, if the recipe says it.
fn of_engine(recipe: &Recipe, kind: &str) -> Option<ServerVersion> {
    let version = recipe.version.as_deref().filter(|_| recipe.engine.as_deref() == Some(kind))?;
    ServerVersion::asked(version)
}

/// The image with the server of an engine. The embedded engine is in our own binary and needs nothing else.
fn default_image(engine: &str) -> &str {
    if engine == "sqlite" { "micro" } else { engine }
}
