//! Reads what a kernel module says about itself: the `.modinfo` section of its ELF file.
//!
//! It reads only that section and the tables that lead to it, so going through all modules of a kernel is cheap. It
//! reads 64-bit little-endian files, which modules for x86-64 and arm64 are.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const HEADER_BYTES: usize = 64;
const SECTION_HEADER_BYTES: usize = 64;
/// No module has more, but a damaged file may claim anything.
const MOST_SECTIONS: usize = 65_536;
const MOST_BYTES: u64 = 16 << 20;

#[derive(Debug, thiserror::Error)]
#[error("cannot read the module {}: {problem}", .path.display())]
pub struct ModinfoError {
    path: PathBuf,
    problem: String,
}

/// A section's place in the file.
#[derive(Clone, Copy)]
struct ElfSection {
    name_offset: u64,
    offset: u64,
    size: u64,
}

/// The `key=value` entries of a module.
pub(crate) fn read(path: &Path) -> Result<Vec<String>, ModinfoError> {
    let wrong = |problem: String| ModinfoError { path: path.to_owned(), problem };
    let file = File::open(path).map_err(|cause| wrong(cause.to_string()))?;
    let bytes = modinfo_section(&file).map_err(wrong)?;
    let entries = bytes.split(|&byte| byte == 0).filter(|entry| !entry.is_empty());
    Ok(entries.map(|entry| String::from_utf8_lossy(entry).into_owned()).collect())
}

/// The values of one key.
pub(crate) fn values<'a>(entries: &'a [String], key: &'a str) -> impl Iterator<Item = &'a str> {
    entries.iter().filter_map(move |entry| entry.strip_prefix(key)?.strip_prefix('='))
}

fn modinfo_section(file: &File) -> Result<Vec<u8>, String> {
    let header = read_at(file, 0, HEADER_BYTES as u64)?;
    if !header.starts_with(MAGIC) {
        return Err("it is not a 64-bit ELF file".into());
    }
    let table_offset = number(&header, 40, 8)?;
    let count = usize::try_from(number(&header, 60, 2)?).unwrap_or(MOST_SECTIONS);
    let names_index = usize::try_from(number(&header, 62, 2)?).unwrap_or(MOST_SECTIONS);
    let table = read_at(file, table_offset, (count.min(MOST_SECTIONS) * SECTION_HEADER_BYTES) as u64)?;
    let sections: Vec<ElfSection> = table.chunks_exact(SECTION_HEADER_BYTES).map(section).collect::<Result<_, _>>()?;
    let names = *sections.get(names_index).ok_or("it has no section names")?;
    let names = read_at(file, names.offset, names.size)?;
    let is_modinfo = |section: &&ElfSection| {
        let name = usize::try_from(section.name_offset).ok().and_then(|offset| names.get(offset..));
        name.is_some_and(|name| name.starts_with(b".modinfo\0"))
    };
    let found = sections.iter().find(is_modinfo).ok_or("it has no .modinfo section")?;
    read_at(file, found.offset, found.size)
}

fn section(header: &[u8]) -> Result<ElfSection, String> {
    Ok(ElfSection { name_offset: number(header, 0, 4)?, offset: number(header, 24, 8)?, size: number(header, 32, 8)? })
}

fn read_at(file: &File, offset: u64, size: u64) -> Result<Vec<u8>, String> {
    let count = usize::try_from(size.min(MOST_BYTES)).map_err(|error| error.to_string())?;
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, offset).map_err(|_| "it ends too early".to_owned())?;
    Ok(bytes)
}

fn number(bytes: &[u8], offset: usize, size: usize) -> Result<u64, String> {
    let field = bytes.get(offset..offset + size).ok_or("it ends too early")?;
    Ok(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
