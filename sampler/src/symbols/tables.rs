//! Functions at addresses, by the symbol tables of an ELF file.

use std::cmp::Reverse;

use object::elf::SHF_EXECINSTR;
use object::{File, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, SymbolSection};

use super::{elf, Damaged};

/// Symbols of a file that are looked at; further ones are ignored.
const MAX_SYMBOLS: usize = 8 << 20;
/// Distance from a symbol without a size at which code is still said to be its.
const MAX_DISTANCE: u64 = 1 << 16;
/// Bytes of a name at most; a longer one is left out.
const MAX_NAME_BYTES: usize = 16 << 10;

/// A function as a symbol table has it.
#[derive(Clone, Copy)]
struct Symbol<'data> {
    begin: u64,
    size: u64,
    section: usize,
    rank: (bool, bool, Reverse<usize>, Reverse<usize>),
    name: &'data [u8],
}

impl Symbol<'_> {
    /// True if the symbol describes an address better: smaller, or the more public of two names.
    fn is_better(&self, other: &Self) -> bool {
        (Reverse(self.size), self.rank) > (Reverse(other.size), other.rank)
    }
}

/// Returns the function at each address as `(address, name)`; addresses without one are left out.
///
/// A function without a size, as assemblers make them, extends to the next symbol. That is known
/// only if the table has local symbols.
///
/// # Errors
/// The file is no little-endian ELF file, or is damaged.
pub fn functions(data: &[u8], addresses: &[u64]) -> Result<Vec<(u64, String)>, Damaged> {
    let file = elf::parse(data)?;
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let code = code_sections(&file);
    let mut best: Vec<Option<Symbol<'_>>> = vec![None; sorted.len()];
    let mut nearest: Vec<Option<Symbol<'_>>> = vec![None; sorted.len()];
    for (symbol, is_complete) in file
        .symbols()
        .map(|symbol| (symbol, true))
        .chain(file.dynamic_symbols().map(|symbol| (symbol, false)))
        .take(MAX_SYMBOLS)
    {
        let SymbolSection::Section(section) = symbol.section() else {
            continue;
        };
        let in_code = code.get(section.0).copied().flatten();
        if in_code.is_none() || !matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown) {
            continue;
        }
        let (begin, size) = (symbol.address(), symbol.size());
        let from = sorted.partition_point(|address| *address < begin);
        let Some(first) = sorted.get(from) else {
            continue;
        };
        if first - begin >= size.max(if is_complete { MAX_DISTANCE } else { 0 }) {
            continue;
        }
        let Some(name) = symbol.name_bytes().ok().filter(|name| is_name(name)) else {
            continue;
        };
        let one = Symbol { begin, size, section: section.0, rank: rank(&symbol, name), name };
        if size == 0 || is_complete {
            keep(&mut nearest[from], one, |one, other| {
                (one.begin, one.size, one.rank) > (other.begin, other.size, other.rank)
            });
        }
        for (address, kept) in sorted[from..].iter().zip(&mut best[from..]) {
            if address - begin >= size {
                break;
            }
            keep(kept, one, Symbol::is_better);
        }
    }
    let mut last: Option<Symbol<'_>> = None;
    let mut found = Vec::new();
    for ((address, best), nearest) in sorted.into_iter().zip(best).zip(nearest) {
        last = nearest.or(last);
        let unsized_one = last.filter(|one| {
            let inside = code[one.section].is_some_and(|(begin, size)| {
                address.checked_sub(begin).is_some_and(|offset| offset < size)
            });
            one.size == 0 && inside && address - one.begin < MAX_DISTANCE
        });
        if let Some(one) = best.or(unsized_one) {
            found.push((address, String::from_utf8_lossy(one.name).into_owned()));
        }
    }
    Ok(found)
}

/// Returns address and size of each section with code, by its index. In a debug file it has no bytes.
fn code_sections(file: &File<'_>) -> Vec<Option<(u64, u64)>> {
    let mut found = Vec::new();
    for section in file.sections() {
        let index = section.index().0;
        if index >= found.len() {
            found.resize(index + 1, None);
        }
        if let SectionFlags::Elf { sh_flags, .. } = section.flags() {
            if sh_flags.contains(SHF_EXECINSTR) {
                found[index] = Some((section.address(), section.size()));
            }
        }
    }
    found
}

fn keep<'data>(
    kept: &mut Option<Symbol<'data>>,
    one: Symbol<'data>,
    is_better: impl Fn(&Symbol<'data>, &Symbol<'data>) -> bool,
) {
    if kept.as_ref().is_none_or(|other| is_better(&one, other)) {
        *kept = Some(one);
    }
}

/// False for labels of compilers and marks of processors, which are no functions.
fn is_name(name: &[u8]) -> bool {
    !(name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.starts_with(b"$")
        || name.starts_with(b".L"))
}

/// Order of several names of one function: names that callers use are greater.
fn rank<'data>(
    symbol: &impl ObjectSymbol<'data>,
    name: &[u8],
) -> (bool, bool, Reverse<usize>, Reverse<usize>) {
    let underscores = name.iter().take_while(|byte| **byte == b'_').count();
    (symbol.is_global(), !symbol.is_weak(), Reverse(underscores), Reverse(name.len()))
}
