//! Identity of an ELF file, and the files with its debug information.

use object::{File, Object, ObjectSection, ObjectSegment};

use super::Damaged;

/// Bytes of a build ID at most; a longer one is cut off.
const MAX_ID_BYTES: usize = 64;

/// An ELF file and its links to other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Build ID; empty without one.
    pub build_id: Vec<u8>,
    /// Name of the debug file (.gnu_debuglink); empty without one.
    pub debug_name: Vec<u8>,
    /// CRC-32 of the debug file.
    pub debug_crc: u32,
    /// Path of the supplementary file that dwz(1) makes (.gnu_debugaltlink); empty without one.
    pub shared_path: Vec<u8>,
    /// Build ID of the supplementary file.
    pub shared_id: Vec<u8>,
    /// Lowest address of a loaded segment.
    pub base: u64,
    /// True if the file has DWARF.
    pub lines: bool,
    /// True if the file has the symbol table for debugging, with local functions.
    pub symbols: bool,
}

/// Parses the headers of a file.
///
/// # Errors
/// The file is no little-endian ELF file, or is damaged.
pub(super) fn parse(data: &[u8]) -> Result<File<'_>, Damaged> {
    let file = File::parse(data)?;
    if !file.is_little_endian() {
        return Err(Damaged("a big-endian file".to_owned()));
    }
    Ok(file)
}

/// Reads what a file says about itself.
///
/// # Errors
/// The file is no little-endian ELF file, or is damaged.
pub fn links(data: &[u8]) -> Result<Links, Damaged> {
    let file = parse(data)?;
    let (name, crc) = file.gnu_debuglink().ok().flatten().unwrap_or_default();
    let (path, shared_id) = file.gnu_debugaltlink().ok().flatten().unwrap_or_default();
    Ok(Links {
        build_id: short(file.build_id().ok().flatten().unwrap_or_default()),
        debug_name: name.to_vec(),
        debug_crc: crc,
        shared_path: path.to_vec(),
        shared_id: short(shared_id),
        base: file.segments().map(|segment| segment.address()).min().unwrap_or_default(),
        lines: has(&file, ".debug_info"),
        symbols: file.symbols().next().is_some(),
    })
}

fn short(id: &[u8]) -> Vec<u8> {
    id[..id.len().min(MAX_ID_BYTES)].to_vec()
}

fn has(file: &File<'_>, name: &str) -> bool {
    let found = file.section_by_name(name);
    found.is_some_and(|section| section.data().is_ok_and(|bytes| !bytes.is_empty()))
}

/// Returns the bytes of a section as the file has them; None without it, or beyond `most` bytes.
///
/// # Errors
/// The file is no little-endian ELF file, or is damaged.
pub fn section(data: &[u8], name: &str, most: usize) -> Result<Option<Vec<u8>>, Damaged> {
    let file = parse(data)?;
    let found = file.section_by_name(name).and_then(|section| section.data().ok());
    Ok(found.filter(|bytes| bytes.len() <= most).map(<[u8]>::to_vec))
}
