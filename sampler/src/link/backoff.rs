//! Reconnecting: how long to wait, and what the codes of the backend mean. Pure.

use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Maximum wait between two attempts.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Duration after which a connection counts as stable.
const STEADY: Duration = Duration::from_secs(5);
/// Wait after being replaced. Otherwise two collectors of one host would replace each other in turn.
const REPLACED_WAIT: Duration = Duration::from_secs(30);
/// The close code of the backend that another collector causes.
const REPLACED: u16 = 4409;
/// Close codes of a refused message: of the backend, and of WebSocket for one that is too big.
const REFUSED: [u16; 2] = [4400, 1009];
/// Other close codes of the backend (shared/schemas), and what to do about them.
const HINTS: [(u16, &str); 8] = [
    (4401, "give both the same TIDSCOPE_COLLECTOR_SECRET"),
    (4403, "start it with --allow-host NAME, or use an allowed host name"),
    (4408, "the hello did not reach it in time"),
    (REPLACED, "stop one of the two collectors"),
    (4420, ""),
    (4421, "give each host its own secret: `tidscope hosts add NAME` at the backend"),
    (4426, "install the same version of tidscope for both"),
    (4429, "stop those that are not needed"),
];

/// Exponential backoff, reset by a welcomed connection.
///
/// Welcomed connections that end early, one after the other, double the wait as well.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
    hasty: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST_WAIT, hasty: 0 }
    }
}

impl Backoff {
    /// Returns how long to wait, without jitter.
    ///
    /// `held` is the time since the welcome; None without one. The reason for the end may ask for
    /// `at_least`.
    pub fn wait(&mut self, held: Option<Duration>, at_least: Duration) -> Duration {
        if let Some(held) = held {
            self.hasty = if held >= STEADY { 0 } else { self.hasty + 1 };
            self.next = FIRST_WAIT * (1 << self.hasty.saturating_sub(1).min(10));
        }
        let wait = self.next.min(LONGEST_WAIT);
        self.next = (2 * self.next).min(LONGEST_WAIT);
        wait.max(at_least)
    }
}

/// Why a connection has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Text for people: what happened, and what to do.
    pub text: String,
    /// Minimum wait: an earlier attempt would fail the same way.
    pub wait: Duration,
    /// True if a message was refused, and would be again.
    pub refused: bool,
}

impl End {
    /// An end after which an early attempt may succeed.
    pub fn soon(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An end after which attempts are seldom.
    pub fn late(text: impl Into<String>) -> Self {
        Self { text: text.into(), wait: LONGEST_WAIT, refused: false }
    }

    /// The end that the backend has caused, with this code.
    pub fn closed(code: u16, reason: &str) -> Self {
        if REFUSED.contains(&code) {
            let text = format!("the backend refused a message ({code}: {reason})");
            return Self { text, wait: LONGEST_WAIT, refused: true };
        }
        let Some((_, hint)) = HINTS.iter().find(|(known, _)| *known == code) else {
            let colon = if reason.is_empty() { "" } else { ": " };
            return Self::soon(format!(
                "the backend closed the connection ({code}{colon}{reason})"
            ));
        };
        let behind = if hint.is_empty() { "" } else { "; " };
        let text = format!("the backend rejected the connection ({code}: {reason}){behind}{hint}");
        let wait = if code == REPLACED { REPLACED_WAIT } else { LONGEST_WAIT };
        Self { text, wait, refused: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: Duration = Duration::ZERO;

    #[test]
    fn waits_double_up_to_a_bound() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..8).map(|_| backoff.wait(None, NO).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(backoff.wait(None, REPLACED_WAIT), REPLACED_WAIT);
    }

    #[test]
    fn a_steady_connection_resets_them_and_hasty_ones_do_not() {
        let mut backoff = Backoff::default();
        backoff.wait(None, NO);
        assert_eq!(backoff.wait(Some(STEADY), NO), FIRST_WAIT);
        let hasty: Vec<_> = (0..4).map(|_| backoff.wait(Some(NO), NO).as_millis()).collect();
        assert_eq!(hasty, [100, 200, 400, 800]);
        for _ in 0..40 {
            backoff.wait(Some(NO), NO);
        }
        assert_eq!(backoff.wait(Some(NO), NO), LONGEST_WAIT);
    }

    #[test]
    fn codes_say_what_to_do() {
        assert!(End::closed(4400, "bad").refused && End::closed(1009, "").refused);
        assert_eq!(End::closed(4409, "other").wait, REPLACED_WAIT);
        assert!(End::closed(4401, "no").text.contains("TIDSCOPE_COLLECTOR_SECRET"));
        let end = End::closed(1012, "restart");
        assert_eq!(
            (end.wait, end.text.as_str()),
            (NO, "the backend closed the connection (1012: restart)")
        );
    }
}
