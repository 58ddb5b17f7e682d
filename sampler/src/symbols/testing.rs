//! A small program as an ELF file with symbols and DWARF, made part by part.
//!
//! `outer` is at 0x1000 to 0x1080, `a.c` line 5 on. From 0x1010 to 0x1020, `inner` is inlined there in
//! line 7, at line 15. `bare` is at 0x1080, without a size.

/// A section: name, type, flags, address, content, index of another section.
pub struct Section(pub &'static str, pub u32, pub u64, pub u64, pub Vec<u8>, pub u32);

const PROGRAM: u32 = 1;
const SYMBOLS: u32 = 2;
const STRINGS: u32 = 3;
const NOTE: u32 = 7;
const NO_BYTES: u32 = 8;
const ALLOCATED: u64 = 2;
const CODE: u64 = 6;

/// Sections of the program. The first one is its code, at index 1.
pub fn sections() -> Vec<Section> {
    let strings = b"\0outer\0bare\0__alias\0".to_vec();
    let symbol = |name: u32, info: u8, address: u64, size: u64| {
        let mut row = name.to_le_bytes().to_vec();
        row.extend([info, 0, 1, 0]);
        row.extend(address.to_le_bytes());
        row.extend(size.to_le_bytes());
        row
    };
    let symbols = [
        vec![0; 24],
        symbol(12, 0x12, 0x1000, 0x80),
        symbol(1, 0x12, 0x1000, 0x80),
        symbol(7, 0x00, 0x1080, 0),
    ]
    .concat();
    let mut note = [4_u32, 4, 3].map(u32::to_le_bytes).concat();
    note.extend(b"GNU\0\xab\xcd\xef\x01");
    vec![
        Section(".text", PROGRAM, CODE, 0x1000, vec![0x90; 0x100], 0),
        Section(".note.gnu.build-id", NOTE, ALLOCATED, 0x200, note, 0),
        Section(".symtab", SYMBOLS, 0, 0, symbols, 4),
        Section(".strtab", STRINGS, 0, 0, strings, 0),
        Section(".debug_abbrev", PROGRAM, 0, 0, abbreviations(), 0),
        Section(".debug_info", PROGRAM, 0, 0, info(), 0),
        Section(".debug_line", PROGRAM, 0, 0, line_table(), 0),
        Section(".gnu_debuglink", PROGRAM, 0, 0, b"a.debug\0\x01\x02\x03\x04".to_vec(), 0),
        Section(".gnu_debugaltlink", PROGRAM, 0, 0, b"../.dwz/all\0\x05\x06".to_vec(), 0),
    ]
}

/// A 64-bit file of these sections, with one loaded segment.
pub fn file(sections: &[Section]) -> Vec<u8> {
    const HEAD: usize = 64 + 56;
    let mut names = vec![0];
    let (mut rows, mut contents) = (vec![0; 64], Vec::<u8>::new());
    let table = Section(".shstrtab", STRINGS, 0, 0, Vec::new(), 0);
    let mut places = Vec::new();
    for section in sections.iter().chain([&table]) {
        places.push(names.len() as u32);
        names.extend(section.0.as_bytes());
        names.push(0);
    }
    for (place, Section(_, kind, flags, address, content, link)) in
        places.iter().zip(sections.iter().chain([&table]))
    {
        let content = if *link == 0 && content.is_empty() { &names } else { content };
        let entry: u64 = if *kind == SYMBOLS { 24 } else { 0 };
        rows.extend([*place, *kind].map(u32::to_le_bytes).concat());
        let offset = (HEAD + contents.len()) as u64;
        rows.extend(
            [*flags, *address, offset, content.len() as u64].map(u64::to_le_bytes).concat(),
        );
        rows.extend([*link, 1].map(u32::to_le_bytes).concat());
        rows.extend([1, entry].map(u64::to_le_bytes).concat());
        if *kind != NO_BYTES {
            contents.extend(content);
        }
    }
    let count = sections.len() as u16 + 2;
    let mut made = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    made.extend([3_u16, 62].map(u16::to_le_bytes).concat());
    made.extend(1_u32.to_le_bytes());
    made.extend([0, 64, (HEAD + contents.len()) as u64].map(u64::to_le_bytes).concat());
    made.extend(0_u32.to_le_bytes());
    made.extend([64, 56, 1, 64, count, count - 1].map(u16::to_le_bytes).concat());
    made.extend([1_u32, 5].map(u32::to_le_bytes).concat());
    made.extend([0_u64, 0x200, 0x200, 0x100, 0x2000, 0x1000].map(u64::to_le_bytes).concat());
    made.extend(contents);
    made.extend(rows);
    made
}

/// Sections of the program without those of a debug file.
pub fn stripped() -> Vec<Section> {
    sections().into_iter().filter(|one| !one.0.starts_with(".debug_")).collect()
}

/// The debug file of the program: its code has no bytes.
pub fn debug_file() -> Vec<Section> {
    let mut made = sections();
    made[0].1 = NO_BYTES;
    made
}

fn abbreviations() -> Vec<u8> {
    let unit = [1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0];
    let function = [2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0];
    let inlined = [3, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b, 0, 0];
    let name = [4, 0x2e, 0, 0x03, 0x08, 0, 0, 0];
    [&unit[..], &function, &inlined, &name].concat()
}

fn range(begin: u64, size: u64) -> Vec<u8> {
    [begin, size].map(u64::to_le_bytes).concat()
}

fn info() -> Vec<u8> {
    let mut unit = vec![4, 0, 0, 0, 0, 0, 8];
    unit.extend(b"\x01a.c\0\0\0\0\0");
    unit.extend(range(0x1000, 0x100));
    let inner = 4 + unit.len() as u32;
    unit.extend(b"\x04inner\0\x02outer\0");
    unit.extend(range(0x1000, 0x80));
    unit.push(3);
    unit.extend(inner.to_le_bytes());
    unit.extend(range(0x1010, 0x10));
    unit.extend([1, 7, 0, 0]);
    [(unit.len() as u32).to_le_bytes().to_vec(), unit].concat()
}

fn line_table() -> Vec<u8> {
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0];
    header.extend(b"a.c\0\0\0\0\0");
    let mut program = vec![0, 9, 2];
    program.extend(0x1000_u64.to_le_bytes());
    // Line 5; 0x10 bytes later line 15; 0x10 bytes later line 6; the end.
    program.extend([3, 4, 1, 2, 0x10, 3, 10, 1, 2, 0x10, 3, 0x77, 1, 2, 0x60, 0, 1, 1]);
    let mut table = vec![4, 0];
    table.extend((header.len() as u32).to_le_bytes());
    table.extend(header);
    table.extend(program);
    [(table.len() as u32).to_le_bytes().to_vec(), table].concat()
}
