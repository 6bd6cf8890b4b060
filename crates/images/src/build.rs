//! Builds an image: its tree, its root disk and its kernel, each taken from the cache if it is there.

use crate::cache::{
    BUILDER, Cache, CacheError, EntryKind, Lookup, Manifest, identity, keep, look_up, size_on_disk, unix_seconds,
};
use crate::choice::KernelChoice;
use crate::kernel::{self, KernelError};
use crate::recipe::Recipe;
use crate::rootdisk::{self, RootDiskError};
use crate::tool::{MKE2FS, MMDEBSTRAP};
use crate::tree::{self, Contents, TreeError};
use crate::{Image, RecipeError, ToolError};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("cannot build the image `{name}`: {cause}")]
    Tree { name: String, cause: TreeError },
    #[error("cannot build the image `{name}`: {cause}")]
    RootDisk { name: String, cause: RootDiskError },
    #[error("cannot get the kernel {choice}: {cause}")]
    Kernel { choice: KernelChoice, cause: KernelError },
    #[error(transparent)]
    Tool(#[from] ToolError),
}

/// The image of a recipe with that kernel. What is in the cache is used, even if the archive has changed
/// since. `force` builds it anew; machines that run from the old one do not survive that.
pub fn build(
    recipe: &Recipe,
    choice: &KernelChoice,
    cache: &Cache,
    force: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Image, ImageError> {
    let (kernel, kernel_manifest) = kernel::fetch(choice, cache, force, progress)
        .map_err(|cause| ImageError::Kernel { choice: choice.clone(), cause })?;
    let image = of_tree(recipe, build_tree(recipe, cache, force, progress)?);
    let mut packages = [image.packages, kernel_manifest.packages].concat();
    packages.sort();
    let id = identity([image.tree_id.as_bytes(), kernel_manifest.id.as_bytes()]);
    Ok(Image { id, kernel: Some(kernel), packages, ..image })
}

/// The same without a kernel, for native machines only.
pub fn build_without_kernel(
    recipe: &Recipe,
    cache: &Cache,
    progress: &mut dyn FnMut(&str),
) -> Result<Image, ImageError> {
    Ok(of_tree(recipe, build_tree(recipe, cache, false, progress)?))
}

/// The image of a tree that is in the cache.
fn of_tree(recipe: &Recipe, (place, manifest): (PathBuf, Manifest)) -> Image {
    let disk = place.join("root.ext4");
    Image {
        name: recipe.name.clone(),
        id: manifest.id.clone(),
        tree_id: manifest.id,
        tree: place.join("tree"),
        root_disk: disk.exists().then_some(disk),
        kernel: None,
        packages: manifest.packages,
    }
}

/// The id of a recipe's tree, if the cache in this folder has it. Builds nothing.
pub fn tree_in_cache(recipe: &Recipe, cache: &Path) -> Result<Option<String>, ImageError> {
    let place = Cache::open(cache)?.place(EntryKind::Tree, &recipe.name, &tree_key(recipe));
    Ok(Manifest::read(&place)?.map(|manifest| manifest.id))
}

fn tree_key(recipe: &Recipe) -> String {
    identity([recipe.name.as_bytes(), recipe.text.as_bytes(), &BUILDER.to_le_bytes()])
}

/// The tree's place in the cache and its manifest. The tree is built if it is not there.
fn build_tree(
    recipe: &Recipe,
    cache: &Cache,
    force: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<(PathBuf, Manifest), ImageError> {
    let key = tree_key(recipe);
    let place = cache.place(EntryKind::Tree, &recipe.name, &key);
    let folder = match look_up(&place, force, progress)? {
        Lookup::Found(manifest) => return Ok((place, manifest)),
        Lookup::Missing(folder) => folder,
    };
    let built = folder.built();
    fs::create_dir(&built).map_err(CacheError::io("create", &built))?;
    let contents = Contents::installed(recipe);
    let made = make_tree(recipe, contents.as_ref(), folder.work(), &built, progress);
    let packages = made.map_err(|cause| ImageError::Tree { name: recipe.name.clone(), cause })?;
    let id = identity([key.as_bytes(), packages.join("\n").as_bytes()]);
    let mut tools = Vec::new();
    if contents.is_some() {
        progress(&format!("making the root disk of the image `{}`", recipe.name));
        rootdisk::make(&built.join("tree"), &built.join("root.ext4"), &id)
            .map_err(|cause| ImageError::RootDisk { name: recipe.name.clone(), cause })?;
        tools = vec![MMDEBSTRAP.version("--version")?, MKE2FS.version("-V")?];
    }
    let manifest = Manifest {
        name: recipe.name.clone(),
        key,
        id,
        packages,
        size_bytes: size_on_disk(&built)?,
        built_unix_s: unix_seconds(),
        builder: BUILDER,
        tools,
        release: None,
    };
    keep(folder, &manifest)?;
    Ok((place, manifest))
}

/// Makes `built/tree`; returns the packages in it.
fn make_tree(
    recipe: &Recipe,
    contents: Option<&Contents>,
    work: &Path,
    built: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<String>, TreeError> {
    progress(&format!("building the image `{}`", recipe.name));
    let (tree, packages) = match contents {
        Some(contents) => {
            let tree = tree::unpack(&tree::bootstrap(contents, work, progress)?, work)?;
            let packages = tree::installed_packages(&tree)?;
            (tree, packages)
        }
        None => (tree::empty(work)?, Vec::new()),
    };
    tree::finish(&tree, &recipe.files)?;
    let place = built.join("tree");
    fs::rename(&tree, &place).map_err(CacheError::io("move", &tree))?;
    Ok(packages)
}
