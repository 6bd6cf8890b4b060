//! Kernel modules as distributions ship them: their ELF file, decompressed, and what a module says about itself in the section
//! `.modinfo` of it.
//!
//! It reads 64-bit little-endian files, which modules for x86-64 and arm64 are. A file may claim anything, so all sizes are bounded.

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const SECTION_HEADER_BYTES: usize = 64;
/// The largest modules, those of graphics cards, have half of it with debugging symbols stripped.
const MOST_BYTES: usize = 64 << 20;
/// Dictionaries of modules have a few MiB.
const MOST_DICTIONARY_KIB: u32 = 64 << 10;
const CHUNK_BYTES: usize = 64 << 10;

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

/// The ELF file of a module, decompressed as the ending of its name says.
pub(crate) fn plain(path: &Path) -> Result<Vec<u8>, ModinfoError> {
    decompressed(path).map_err(|problem| ModinfoError { path: path.to_owned(), problem })
}

/// The `key=value` entries of a module.
pub(crate) fn read(path: &Path) -> Result<Vec<String>, ModinfoError> {
    let file = plain(path)?;
    let section = modinfo_section(&file).map_err(|problem| ModinfoError { path: path.to_owned(), problem })?;
    let entries = section.split(|&byte| byte == 0).filter(|entry| !entry.is_empty());
    Ok(entries.map(|entry| String::from_utf8_lossy(entry).into_owned()).collect())
}

/// The values of one key.
pub(crate) fn values<'a>(entries: &'a [String], key: &'a str) -> impl Iterator<Item = &'a str> {
    entries.iter().filter_map(move |entry| entry.strip_prefix(key)?.strip_prefix('='))
}

fn decompressed(path: &Path) -> Result<Vec<u8>, String> {
    let written = File::open(path).and_then(bounded).map_err(|cause| cause.to_string())?;
    let plain = match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => bounded(MultiGzDecoder::new(&written[..])),
        Some("zst") => StreamingDecoder::new(&written[..]).map_err(io::Error::other).and_then(bounded),
        Some("xz") => from_xz(&written),
        _ => return Ok(written),
    };
    plain.map_err(|cause| format!("it cannot be decompressed: {cause}"))
}

/// All of a stream, if it is not too long.
fn bounded(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MOST_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// Not by the crate's `Read`, which would allocate as large a dictionary as a file asks for.
fn from_xz(written: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = XzStream::new_mem_limit(true, MOST_DICTIONARY_KIB);
    let (mut plain, mut chunk, mut rest) = (Vec::new(), vec![0; CHUNK_BYTES], written);
    loop {
        let step = stream.process(rest, &mut chunk, Action::Finish)?;
        rest = &rest[step.bytes_consumed..];
        plain.extend_from_slice(&chunk[..step.bytes_produced]);
        if plain.len() > MOST_BYTES {
            return Err(too_large());
        }
        if step.status == Status::StreamEnd {
            return Ok(plain);
        }
        if step.bytes_consumed == 0 && step.bytes_produced == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {} MiB", MOST_BYTES >> 20))
}

fn modinfo_section(file: &[u8]) -> Result<&[u8], String> {
    if !file.starts_with(MAGIC) {
        return Err(if file.len() < MAGIC.len() { "it ends too early" } else { "it is not a 64-bit ELF file" }.into());
    }
    let count = number(file, 60, 2)? * SECTION_HEADER_BYTES as u64;
    let names_index = number(file, 62, 2)?;
    let table = part(file, number(file, 40, 8)?, count)?;
    let sections: Vec<ElfSection> = table.chunks_exact(SECTION_HEADER_BYTES).map(section).collect::<Result<_, _>>()?;
    let names = usize::try_from(names_index).ok().and_then(|index| sections.get(index));
    let names = names.ok_or("it has no section names")?;
    let names = part(file, names.offset, names.size)?;
    let is_modinfo = |section: &&ElfSection| {
        let name = usize::try_from(section.name_offset).ok().and_then(|offset| names.get(offset..));
        name.is_some_and(|name| name.starts_with(b".modinfo\0"))
    };
    let found = sections.iter().find(is_modinfo).ok_or("it has no .modinfo section")?;
    part(file, found.offset, found.size)
}

fn section(header: &[u8]) -> Result<ElfSection, String> {
    Ok(ElfSection { name_offset: number(header, 0, 4)?, offset: number(header, 24, 8)?, size: number(header, 32, 8)? })
}

fn part(file: &[u8], offset: u64, size: u64) -> Result<&[u8], String> {
    let range = usize::try_from(offset).ok().zip(offset.checked_add(size).and_then(|end| usize::try_from(end).ok()));
    range.and_then(|(start, end)| file.get(start..end)).ok_or_else(|| "it ends too early".to_owned())
}

fn number(bytes: &[u8], offset: u64, size: u64) -> Result<u64, String> {
    Ok(part(bytes, offset, size)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lzma_rust2::{XzOptions, XzWriter};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    pub fn gz(plain: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(plain).unwrap();
        writer.finish().unwrap()
    }

    pub fn zst(plain: &[u8]) -> Vec<u8> {
        compress_to_vec(plain, CompressionLevel::Fastest)
    }

    pub fn xz(plain: &[u8]) -> Vec<u8> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).unwrap();
        writer.write_all(plain).unwrap();
        writer.finish().unwrap()
    }

    type Compress = fn(&[u8]) -> Vec<u8>;
    const FORMS: [(&str, Compress); 4] = [("ko", <[u8]>::to_vec), ("ko.gz", gz), ("ko.zst", zst), ("ko.xz", xz)];

    fn written(ending: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("module.{ending}"));
        std::fs::write(&path, content).unwrap();
        (folder, path)
    }

    #[test]
    fn each_form_of_a_module_is_read() {
        let module: Vec<u8> = (0..300_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        for (ending, compress) in FORMS {
            let (_folder, path) = written(ending, &compress(&module));
            assert!(plain(&path).unwrap() == module, "{ending}");
        }
    }

    #[test]
    fn what_is_cut_off_damaged_or_too_large_is_refused() {
        let module: Vec<u8> = (0..30_000_u32).flat_map(u32::to_le_bytes).collect();
        let huge = vec![0; MOST_BYTES + 1];
        for (ending, compress) in FORMS {
            let refused = |content: &[u8]| {
                let (_folder, path) = written(ending, content);
                read(&path).unwrap_err().to_string()
            };
            let whole = compress(&module);
            assert!(refused(&whole).ends_with("it is not a 64-bit ELF file"), "{ending}: {}", refused(&whole));
            let too_large = refused(&compress(&huge));
            assert!(too_large.ends_with("it has more than 64 MiB"), "{ending}: {too_large}");
            assert!(refused(b"").contains("module."), "{ending}");
            if ending != "ko" {
                let cut = refused(&whole[..whole.len() / 2]);
                assert!(cut.contains("it cannot be decompressed: "), "{ending}: {cut}");
                let other = refused(&[0x55; 100]);
                assert!(other.contains("it cannot be decompressed: "), "{ending}: {other}");
            }
        }
    }

    /// Reserves nothing: the file is refused as soon as its header asks for 4 GiB.
    #[test]
    fn a_dictionary_of_gigabytes_is_refused() {
        let mut file = xz(b"module");
        // After 12 bytes of the stream's header: size, flags, filter's id (LZMA2), size of its properties, the dictionary.
        assert_eq!(file[12..16], [2, 0, 0x21, 1]);
        file[16] = 40;
        let check = crc32(&file[12..20]);
        file[20..24].copy_from_slice(&check.to_le_bytes());
        let (_folder, path) = written("ko.xz", &file);
        let refused = plain(&path).unwrap_err().to_string();
        assert!(refused.contains("memory"), "{refused}");
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut checksum = flate2::Crc::new();
        checksum.update(bytes);
        checksum.sum()
    }

    #[test]
    fn sections_outside_of_a_file_are_refused() {
        let mut file = MAGIC.to_vec();
        file.resize(64, 0xff);
        assert_eq!(modinfo_section(&file).unwrap_err(), "it ends too early");
        assert_eq!(modinfo_section(&file[..50]).unwrap_err(), "it ends too early");
    }
}
