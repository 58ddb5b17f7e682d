//! Offsets of the members of struct taskstats: a table that Python gives for the running kernel.

/// Bytes of `ac_comm` that hold a name; the others are zeros.
pub const COMM_BYTES: usize = 16;

/// One version of struct taskstats.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Version, which the struct tells in its first two bytes.
    pub version: u16,
    /// Length in bytes.
    pub length: usize,
    /// Name of the members that a patched kernel appends; empty for a stock kernel.
    pub profile: String,
    offsets: Vec<(String, usize)>,
    pub(super) pid: usize,
    pub(super) age: usize,
    pub(super) comm: usize,
    pub(super) exit: Option<Exit>,
    pub(super) process: Option<Process>,
}

/// Offsets of the members that tell how a thread ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    pub code: usize,
    pub flag: usize,
}

/// Offsets of the members that tell whose thread it is, from version 12 on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub id: usize,
    pub age: usize,
}

impl Layout {
    /// Makes the layout of a table of members and their offsets in bytes.
    ///
    /// # Errors
    /// Tells which member is missing, or does not fit into the struct.
    pub fn new<S: Into<String>>(
        version: u16,
        length: usize,
        profile: &str,
        members: impl IntoIterator<Item = (S, usize)>,
    ) -> Result<Self, String> {
        let offsets: Vec<(String, usize)> =
            members.into_iter().map(|(name, offset)| (name.into(), offset)).collect();
        if !length.is_multiple_of(8) || length == 0 || length > usize::from(u16::MAX) {
            return Err(format!("a struct taskstats of {length} bytes"));
        }
        let within = |name: &str, align: usize, size: usize| {
            let found = offsets.iter().find(|(member, _)| member == name);
            found
                .map(|&(_, offset)| {
                    let fits = offset % align == 0
                        && offset.checked_add(size).is_some_and(|end| end <= length);
                    fits.then_some(offset).ok_or_else(|| misplaced(name, offset, length))
                })
                .transpose()
        };
        let needed = |name: &str, align: usize, size: usize| {
            within(name, align, size)?.ok_or_else(|| format!("struct taskstats without {name}"))
        };
        let pid = needed("ac_pid", 4, 4)?;
        let age = needed("ac_etime", 8, 8)?;
        let comm = needed("ac_comm", 8, COMM_BYTES)?;
        let exit = within("ac_exitcode", 4, 4)?
            .zip(within("ac_flag", 1, 1)?)
            .map(|(code, flag)| Exit { code, flag });
        let process = within("ac_tgid", 4, 4)?
            .zip(within("ac_tgetime", 8, 8)?)
            .map(|(id, age)| Process { id, age });
        let profile = profile.into();
        Ok(Self { version, length, profile, offsets, pid, age, comm, exit, process })
    }

    /// Offset of a counter of 64 bits, in words.
    ///
    /// # Errors
    /// Tells that the struct has no such member, or where it would be.
    pub fn word(&self, name: &str) -> Result<usize, String> {
        let found = self.offsets.iter().find(|(member, _)| member == name);
        let &(_, offset) = found.ok_or_else(|| format!("struct taskstats without {name}"))?;
        if offset % 8 == 0 && offset < self.length {
            Ok(offset / 8)
        } else {
            Err(misplaced(name, offset, self.length))
        }
    }

    /// Thread id of a struct of this layout; 0 if it is shorter.
    pub(super) fn thread_of(&self, stats: &[u8]) -> u32 {
        let bytes = stats.get(self.pid..self.pid + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    }

    /// True if a struct tells which process its thread belongs to.
    pub fn tells_process(&self) -> bool {
        self.process.is_some()
    }
}

fn misplaced(name: &str, offset: usize, length: usize) -> String {
    format!("{name} at {offset} in a struct taskstats of {length} bytes")
}

/// The taskstats of the running kernel, as Python has found it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Number of the generic netlink family.
    pub family: u16,
    /// Offset of struct taskstats in a reply, bytes.
    pub payload: usize,
    /// Layout of the kernel's struct taskstats.
    pub layout: Layout,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBERS: [(&str, usize); 4] =
        [("ac_comm", 80), ("ac_pid", 128), ("ac_etime", 144), ("nvcsw", 272)];

    #[test]
    fn members_are_found_by_their_names() {
        let layout = Layout::new(8, 328, "", MEMBERS).unwrap();
        assert_eq!((layout.pid, layout.age, layout.comm), (128, 144, 80));
        assert_eq!(layout.word("nvcsw"), Ok(34));
        assert!(!layout.tells_process() && layout.exit.is_none());
        assert!(layout.word("nivcsw").unwrap_err().contains("without nivcsw"));
        let with = MEMBERS.into_iter().chain([("ac_tgid", 320), ("ac_tgetime", 312)]);
        assert!(Layout::new(12, 328, "", with).unwrap().tells_process());
    }

    #[test]
    fn a_table_that_cannot_be_is_refused() {
        for left_out in 0..3 {
            let mut some = MEMBERS.to_vec();
            some.remove(left_out);
            assert!(Layout::new(8, 328, "", some).is_err());
        }
        for offset in [276, 328, usize::MAX] {
            let table = [MEMBERS[0], MEMBERS[1], MEMBERS[2], ("nvcsw", offset)];
            assert!(Layout::new(8, 328, "", table).unwrap().word("nvcsw").is_err());
            let table = [MEMBERS[0], MEMBERS[1], ("ac_etime", offset)];
            assert!(Layout::new(8, 328, "", table).unwrap_err().contains("ac_etime at"));
        }
        for length in [0, 100, 1 << 20] {
            assert!(Layout::new(8, length, "", MEMBERS).is_err());
        }
    }
}
