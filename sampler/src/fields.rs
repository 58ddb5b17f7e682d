//! The counter columns of a target, by the names of the field catalogue.

use crate::columns::{Mask, MAX_COLUMNS};

/// Name of the time on a CPU.
pub const CPU: &str = "cpu_run_ns";
/// Name of the delay by block I/O.
pub const BLKIO: &str = "blkio_delay_ns";
/// Name of the gauge of a thread's current state.
pub const STATE: &str = "state";
/// Name of the gauge of the beginning of that state.
pub const SINCE: &str = "state_since_ns";
/// Names of the network columns, in their order.
pub const NETWORK: [&str; 4] =
    ["net_read_bytes", "net_write_bytes", "net_read_calls", "net_write_calls"];

/// Columns of a target: those of its source, then those of the network, then those of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    names: Vec<String>,
    /// Delays in nanoseconds, which are never longer than the life of their thread.
    pub delay_times: Mask,
    /// Columns of delay accounting, which is off in threads that began before it was switched on.
    pub delay_accounts: Mask,
    /// Columns that never fall while a thread lives.
    pub rising: Mask,
    /// First column of the ledger; the number of columns if there is none.
    pub first_state: usize,
    /// Number of columns that have sums, the first ones: all but `state` and `state_since_ns`.
    pub summed: usize,
}

impl Fields {
    /// Makes the columns of their names, in order.
    ///
    /// # Errors
    /// Tells why these names cannot be columns: too many, or a ledger's columns that are not the last
    /// ones.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() > MAX_COLUMNS {
            return Err(format!("{} columns; {MAX_COLUMNS} fit", names.len()));
        }
        let first_state =
            names.iter().position(|name| name.starts_with("state")).unwrap_or(names.len());
        let summed = if first_state < names.len() { names.len() - 2 } else { names.len() };
        if first_state < names.len()
            && (names[summed..] != [STATE, SINCE]
                || !names[first_state..summed].iter().all(|name| name.starts_with("state_")))
        {
            return Err("the columns of states do not stand at the end, in their order".into());
        }
        let bits = |holds: &dyn Fn(&str) -> bool| {
            names
                .iter()
                .enumerate()
                .filter(|(_, name)| holds(name))
                .fold(0, |mask, (n, _)| mask | 1 << n)
        };
        let delay_times = bits(&|name| name.ends_with("_delay_ns"));
        let delay_accounts = bits(&|name| {
            (name.ends_with("_delay_ns") || name.ends_with("_count")) && !name.starts_with("cpu_")
        });
        let rising = low_bits(first_state);
        Ok(Self { delay_times, delay_accounts, rising, first_state, summed, names })
    }

    /// Names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True without columns.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Column of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|one| one == name)
    }

    /// Column of a state's time; the number of a state is that of its column from the first one on,
    /// counted from 1.
    pub fn column_of_state(&self, state: u64) -> Option<usize> {
        let place = usize::try_from(state).ok()?.checked_sub(1)? + self.first_state;
        (place < self.summed).then_some(place)
    }

    /// Columns of the gauges `state` and `state_since_ns`; None without a ledger.
    pub fn gauges(&self) -> Option<(usize, usize)> {
        (self.summed < self.len()).then_some((self.summed, self.summed + 1))
    }

    /// True if the threads have ledgers.
    pub fn has_ledger(&self) -> bool {
        self.first_state < self.len()
    }
}

/// The lowest `count` bits.
pub fn low_bits(count: usize) -> Mask {
    if count >= MAX_COLUMNS {
        Mask::MAX
    } else {
        (1 << count) - 1
    }
}

/// Columns of a mask, ascending.
pub fn columns_of(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let column = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            column
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_column_is_follows_from_its_name() {
        let names = [
            CPU,
            "cpu_delay_ns",
            "cpu_count",
            BLKIO,
            "blkio_count",
            "state_on_cpu_ns",
            STATE,
            SINCE,
        ];
        let fields = Fields::new(names).unwrap();
        assert_eq!(fields.delay_times, 0b1010);
        assert_eq!(fields.delay_accounts, 0b11000);
        assert_eq!(fields.rising, 0b11111);
        assert_eq!((fields.first_state, fields.summed, fields.gauges()), (5, 6, Some((6, 7))));
        assert_eq!(fields.column_of_state(1), Some(5));
        assert_eq!(fields.column_of_state(2), None);
        assert_eq!(fields.column_of_state(0), None);
        assert!(Fields::new([STATE, SINCE, CPU]).is_err());
    }

    #[test]
    fn columns_of_a_mask_ascend() {
        assert_eq!(columns_of(0b10110).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(columns_of(low_bits(64)).count(), 64);
    }
}
