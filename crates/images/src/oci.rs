//! An image as an archive of the Open Container Initiative, with our own program in it, for container engines and clusters.

use crate::Image;
use crate::tool::{TAR, ToolError};
use crate::tree::SOURCE_DATE_EPOCH;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(30);
/// Where our program is, inside.
const PROGRAM: &str = "usr/local/bin/bakeoff";
const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const CHUNK_BYTES: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum OciError {
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

fn failing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OciError {
    move |source| OciError::Io { doing, path: path.to_owned(), source }
}

/// Writes the archive. The same tree, program and name give the same bytes. `name` is what engines call the image.
pub fn export(image: &Image, program: &Path, name: &str, archive: &Path) -> Result<(), OciError> {
    let beside = archive.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = tempfile::tempdir_in(beside).map_err(failing("make a folder in", beside))?;
    let layout = work.path().join("layout");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs).map_err(failing("make", &blobs))?;
    let own = work.path().join("own");
    let inside = own.join(PROGRAM);
    let folder = inside.parent().unwrap_or(&own);
    fs::create_dir_all(folder).map_err(failing("make", folder))?;
    fs::copy(program, &inside).map_err(failing("copy", program))?;
    let layer = work.path().join("layer");
    pack(&image.tree, &layer, &[])?;
    let tree = Blob::of_file(&layer, &blobs)?;
    pack(&own, &layer, &["--owner=0", "--group=0", "--mode=u=rwX,go=rX"])?;
    let own = Blob::of_file(&layer, &blobs)?;
    let text = |value: &Value| Blob::of_text(&value.to_string(), &blobs);
    let config = text(&config(&[&tree, &own]))?;
    let manifest = text(&manifest(&config, &[&tree, &own]))?;
    let write = |file: &str, value: &Value| {
        let path = layout.join(file);
        fs::write(&path, value.to_string()).map_err(failing("write", &path))
    };
    write("oci-layout", &json!({ "imageLayoutVersion": "1.0.0" }))?;
    write("index.json", &index(&manifest, name))?;
    pack(&layout, archive, &["--owner=0", "--group=0", "--mode=u=rwX,go=rX"])
}

/// The files of a folder in the order of their names, without what differs from one day to the next.
fn pack(folder: &Path, archive: &Path, further: &[&str]) -> Result<(), OciError> {
    let mtime = format!("--mtime=@{SOURCE_DATE_EPOCH}");
    let call = TAR.call_as_owner()?.args(["--create", "--format=gnu", "--sort=name", "--numeric-owner", &mtime]);
    let call = call.args(further).args([Path::new("--file"), archive, Path::new("--directory"), folder]).args(["."]);
    call.run(LIMIT, &mut |_| ()).map_err(ToolError::from)?;
    Ok(())
}

/// A file that is named after its SHA-256.
struct Blob {
    digest: String,
    bytes: u64,
}

impl Blob {
    /// Moves the file to its place.
    fn of_file(file: &Path, blobs: &Path) -> Result<Self, OciError> {
        let mut hash = Sha256::new();
        let mut open = File::open(file).map_err(failing("read", file))?;
        let (mut chunk, mut bytes) = (vec![0; CHUNK_BYTES], 0);
        loop {
            let length = open.read(&mut chunk).map_err(failing("read", file))?;
            if length == 0 {
                break;
            }
            hash.update(&chunk[..length]);
            bytes += length as u64;
        }
        let mut digest = String::new();
        for byte in hash.finalize() {
            // Writing to a text cannot fail.
            let _ = write!(digest, "{byte:02x}");
        }
        fs::rename(file, blobs.join(&digest)).map_err(failing("move", file))?;
        Ok(Self { digest, bytes })
    }

    fn of_text(text: &str, blobs: &Path) -> Result<Self, OciError> {
        let file = blobs.join("text");
        fs::write(&file, text).map_err(failing("write", &file))?;
        Self::of_file(&file, blobs)
    }

    fn described(&self, kind: &str) -> Value {
        json!({
            "mediaType": format!("application/vnd.oci.image.{kind}"),
            "digest": format!("sha256:{}", self.digest),
            "size": self.bytes,
        })
    }
}

fn config(layers: &[&Blob]) -> Value {
    let layers: Vec<String> = layers.iter().map(|layer| format!("sha256:{}", layer.digest)).collect();
    json!({
        "architecture": "amd64",
        "os": "linux",
        "config": { "Entrypoint": [format!("/{PROGRAM}")], "Env": [PATH] },
        "rootfs": { "type": "layers", "diff_ids": layers },
    })
}

fn manifest(config: &Blob, layers: &[&Blob]) -> Value {
    let layers: Vec<Value> = layers.iter().map(|layer| layer.described("layer.v1.tar")).collect();
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config.described("config.v1+json"),
        "layers": layers,
    })
}

fn index(manifest: &Blob, name: &str) -> Value {
    let mut described = manifest.described("manifest.v1+json");
    described["annotations"] = json!({ "org.opencontainers.image.ref.name": name });
    json!({ "schemaVersion": 2, "manifests": [described] })
}
