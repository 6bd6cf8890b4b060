//! `bakeoff image build|export|list`.

use crate::arguments::{ImageCommand, ImageOptions};
use crate::display::{print, say};
use crate::exit::{EndedWith, Exit};
use crate::host;
use anyhow::{Context, Result};
use images::{Cache, KernelChoice, Recipe};
use std::fmt::Write as _;
use std::path::Path;

pub fn image(options: &ImageOptions) -> Result<Exit> {
    match &options.command {
        ImageCommand::Build { recipe, kernel, force, recipes } => {
            build(&recipe_of(recipe, recipes.as_deref())?, kernel.as_deref(), *force)
        }
        ImageCommand::Export { recipe, file, recipes } => export(&recipe_of(recipe, recipes.as_deref())?, file),
        ImageCommand::List { json, recipes } => list(*json, recipes.as_deref()),
    }
}

fn recipe_of(name: &str, folder: Option<&Path>) -> Result<Recipe> {
    images::find(name, folder).map_err(|error| EndedWith::bad_input(error.to_string()).into())
}

fn build(recipe: &Recipe, kernel: Option<&str>, force: bool) -> Result<Exit> {
    let kernel = kernel.map_or_else(|| Ok(KernelChoice::of_this_host()), str::parse);
    let kernel = kernel.map_err(|error| EndedWith::bad_input(format!("--kernel: {error}")))?;
    let cache = Cache::open(&host::cache_folder()?).map_err(|error| EndedWith::host(error.to_string()))?;
    let image = images::build(recipe, &kernel, &cache, force, &mut |step| say(step))
        .map_err(|error| EndedWith::host(format!("building image {}: {error:#}", recipe.name)))?;
    print(&format!("{} {}\n", image.name, image.id));
    Ok(Exit::Done)
}

fn export(recipe: &Recipe, file: &Path) -> Result<Exit> {
    let name = &recipe.name;
    let cache = Cache::open(&host::cache_folder()?).map_err(|error| EndedWith::host(error.to_string()))?;
    let image = images::build_without_kernel(recipe, &cache, &mut |step| say(step))
        .map_err(|error| EndedWith::host(format!("building image {}: {error:#}", recipe.name)))?;
    if !image.tree.join("bin/sh").exists() {
        let told = format!("the image {name} has no shell, which an agent of a fleet needs; take that of a server");
        return Err(EndedWith::bad_input(told).into());
    }
    let program = std::env::current_exe().context("finding this program's own file")?;
    let called = format!("bakeoff-{name}:{}", env!("CARGO_PKG_VERSION"));
    images::oci::export(&image, &program, &called, file).map_err(|error| EndedWith::host(error.to_string()))?;
    print(&format!("{called} {}\n", file.display()));
    Ok(Exit::Done)
}

fn list(json: bool, folder: Option<&Path>) -> Result<Exit> {
    let cache = Cache::open(&host::cache_folder()?).map_err(|error| EndedWith::host(error.to_string()))?;
    let built = images::list(&cache)?;
    if json {
        print(&format!("{}\n", serde_json::to_string_pretty(&built)?));
        return Ok(Exit::Done);
    }
    let mut text = String::from("recipes:\n");
    for recipe in images::catalog(folder).map_err(|error| EndedWith::bad_input(error.to_string()))? {
        writeln!(text, "  {:<18} {}", recipe.name, recipe.about)?;
    }
    writeln!(text, "\nbuilt, in {}:", cache.folder().display())?;
    for entry in built {
        let built = std::time::UNIX_EPOCH + std::time::Duration::from_secs(entry.built_unix_s);
        writeln!(
            text,
            "  {:<18} {:<14} {:>6} MiB  {:>4} packages  {}",
            entry.name,
            entry.id,
            entry.size_bytes >> 20,
            entry.packages,
            humantime::format_rfc3339_seconds(built)
        )?;
    }
    print(&text);
    Ok(Exit::Done)
}
