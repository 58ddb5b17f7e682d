//! Lines and inlined functions at addresses, by the DWARF of an ELF file.

use std::borrow::Cow;
use std::ops::ControlFlow;

use addr2line::Context;
use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId};
use miniz_oxide::inflate::decompress_slice_iter_to_slice;
use object::{CompressedData, CompressionFormat, File, Object, ObjectSection};
use ruzstd::decoding::FrameDecoder;

use super::{elf, Damaged};

/// Bytes of all sections of a file after decompression; DWARF beyond is not read.
const MAX_INFLATED: u64 = 1 << 30;
/// Functions inlined into each other at one address; further ones are left out.
const MAX_INLINED: usize = 128;

/// A function at an address, and the place in its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name as the linker knows it; empty if unknown.
    pub function: String,
    /// Path of the source file; empty if unknown.
    pub file: String,
    /// Line, or 0 if unknown.
    pub line: u32,
}

/// Sections that tell of functions and lines. Others are not even decompressed.
const READ: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Calls `each` with an address and its functions, the innermost one first, for all addresses of
/// which something is known, until it breaks.
///
/// # Arguments
/// `shared` is the supplementary file that the DWARF refers to, if any.
///
/// # Errors
/// A file is no little-endian ELF file, or its DWARF is damaged. What is damaged in a single unit only
/// leaves out the addresses in it.
pub fn places(
    data: &[u8],
    shared: Option<&[u8]>,
    addresses: &[u64],
    mut each: impl FnMut(u64, Vec<Place>) -> ControlFlow<()>,
) -> Result<(), Damaged> {
    let mut left = MAX_INFLATED;
    let own = load(&elf::parse(data)?, &mut left)?;
    let shared = match shared {
        Some(data) => Some(load(&elf::parse(data)?, &mut left)?),
        None => None,
    };
    let dwarf =
        own.borrow_with_sup(shared.as_ref(), |section| EndianSlice::new(section, LittleEndian));
    let context = Context::from_dwarf(dwarf)?;
    // addr2line asks for the addresses up to the next one, which the last one does not have.
    for &address in addresses.iter().filter(|address| **address < u64::MAX) {
        let found = at(&context, address);
        if !found.is_empty() && each(address, found).is_break() {
            break;
        }
    }
    Ok(())
}

type Reader<'data> = EndianSlice<'data, LittleEndian>;

fn at(context: &Context<Reader<'_>>, address: u64) -> Vec<Place> {
    let mut found = Vec::new();
    // Parts in other files (split DWARF) are not opened: then only the line is known.
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
        return found;
    };
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
        let location = frame.location.as_ref();
        found.push(Place {
            function: name.map(Cow::into_owned).unwrap_or_default(),
            file: location.and_then(|place| place.file).unwrap_or_default().to_owned(),
            line: location.and_then(|place| place.line).unwrap_or_default(),
        });
        if found.len() > MAX_INLINED {
            return Vec::new();
        }
    }
    found
}

/// Loads sections, decompressed; the ones that are not there are empty.
fn load<'data>(
    file: &File<'data>,
    left: &mut u64,
) -> Result<DwarfSections<Cow<'data, [u8]>>, Damaged> {
    DwarfSections::load(|id| {
        let section = READ.contains(&id).then(|| file.section_by_name(id.name())).flatten();
        let Some(section) = section else {
            return Ok(Cow::Borrowed(&[][..]));
        };
        let stored = section.compressed_data()?;
        *left = left
            .checked_sub(stored.uncompressed_size)
            .ok_or_else(|| Damaged("its debug information is too large".to_owned()))?;
        inflate(stored)
    })
}

/// Decompresses a section; its size was checked.
fn inflate(stored: CompressedData<'_>) -> Result<Cow<'_, [u8]>, Damaged> {
    if stored.format == CompressionFormat::None {
        return Ok(Cow::Borrowed(stored.data));
    }
    let size = usize::try_from(stored.uncompressed_size)?;
    let mut made = Vec::new();
    made.try_reserve_exact(size)?;
    made.resize(size, 0);
    let filled = match stored.format {
        CompressionFormat::Zlib => {
            let data = std::iter::once(stored.data);
            decompress_slice_iter_to_slice(&mut made, data, true, false).ok()
        }
        CompressionFormat::Zstandard => FrameDecoder::new().decode_all(stored.data, &mut made).ok(),
        _ => None,
    };
    if filled == Some(size) {
        Ok(Cow::Owned(made))
    } else {
        Err(Damaged("a section cannot be decompressed".to_owned()))
    }
}
