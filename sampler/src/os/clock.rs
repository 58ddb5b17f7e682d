//! The clocks of the kernel.

/// CLOCK_MONOTONIC, nanoseconds.
pub fn monotonic_ns() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_BOOTTIME, nanoseconds; it also counts the time that the machine was suspended.
pub fn boottime_ns() -> i64 {
    read(libc::CLOCK_BOOTTIME)
}

/// Clock ticks per second, the unit of times in /proc/PID/stat.
pub fn ticks_per_second() -> u64 {
    // SAFETY: sysconf reads a constant of the system.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).ok().filter(|&ticks| ticks > 0).unwrap_or(100)
}

/// CLOCK_REALTIME, microseconds since 1970.
pub fn unix_us() -> i64 {
    read(libc::CLOCK_REALTIME) / 1000
}

/// CPU time of the calling thread, nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of a process with all its threads, the ended ones too, nanoseconds; None if it has ended.
pub fn process_cpu_ns(pid: u32) -> Option<i64> {
    // CPUCLOCK_SCHED of a process, as clock_getcpuclockid(3) makes it.
    let clock = (!(pid as libc::clockid_t)) << 3 | 2;
    try_read(clock)
}

fn read(clock: libc::clockid_t) -> i64 {
    try_read(clock).unwrap_or(0)
}

fn try_read(clock: libc::clockid_t) -> Option<i64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec, which lives on this stack.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    (result == 0).then(|| time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_run() {
        let before = monotonic_ns();
        assert!(before > 0 && monotonic_ns() >= before);
        assert!(boottime_ns() >= before);
        assert!((1..=1_000_000).contains(&ticks_per_second()));
        assert!(unix_us() > 1_700_000_000_000_000);
        assert!(thread_cpu_ns() > 0);
        assert!(process_cpu_ns(std::process::id()).unwrap() >= thread_cpu_ns());
        assert_eq!(process_cpu_ns(4_194_305), None);
    }
}
