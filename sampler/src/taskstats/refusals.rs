//! Reasons to refuse a message, by name, and how often each was seen.
//!
//! A message that is not exactly what the kernel sends is refused whole: a number that may be wrong is
//! worse than none. Nothing is refused silently.

use std::fmt;

/// Why a message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The kernel did not send it.
    Sender,
    /// Message longer than its slot.
    Cut,
    /// Message shorter than its headers.
    Short,
    /// Message with a length in its header that is not its own.
    Length,
    /// Message of another type.
    Type,
    /// NLMSG_OVERRUN.
    Overrun,
    /// Command other than TASKSTATS_CMD_NEW.
    Command,
    /// An attribute does not fit into its container.
    Attribute,
    /// Message without the expected records.
    Content,
    /// Struct taskstats of another version or length.
    Layout,
    /// The thread ids in attribute and struct, or in question and answer, differ.
    Identity,
    /// Answer to a question that was not asked.
    Unasked,
    /// Second answer to a question.
    Twice,
    /// A question had no answer.
    Silence,
}

const COUNT: usize = Refusal::Silence as usize + 1;

impl fmt::Display for Refusal {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str(match self {
            Self::Sender => "not sent by the kernel",
            Self::Cut => "cut off: longer than its slot",
            Self::Short => "shorter than its headers",
            Self::Length => "length that differs from the message's",
            Self::Type => "message of another type",
            Self::Overrun => "NLMSG_OVERRUN",
            Self::Command => "another command than TASKSTATS_CMD_NEW",
            Self::Attribute => "attribute that does not fit into its container",
            Self::Content => "not the records that were expected",
            Self::Layout => "struct taskstats of another version or length",
            Self::Identity => "thread ids that differ",
            Self::Unasked => "answer to a question that was not asked",
            Self::Twice => "second answer to one question",
            Self::Silence => "no answer",
        })
    }
}

/// How many messages were refused, by reason.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    counts: [u64; COUNT],
    lines: Vec<String>,
}

impl Refusals {
    /// Counts refused messages; `detail` tells in which way the first one of a reason is wrong.
    pub fn note(&mut self, refusal: Refusal, count: u64, detail: impl fmt::Display) {
        let before = &mut self.counts[refusal as usize];
        if *before == 0 && count > 0 {
            self.lines.push(format!("refused a taskstats message: {refusal}: {detail}"));
        }
        *before = before.saturating_add(count);
    }

    /// Messages that were refused for a reason.
    pub fn count(&self, refusal: Refusal) -> u64 {
        self.counts[refusal as usize]
    }

    /// Messages that were refused.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Lines for the log, one for the first message of each reason, since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_logged_once_and_counted() {
        let mut refused = Refusals::default();
        refused.note(Refusal::Twice, 1, "the second of thread 7");
        refused.note(Refusal::Twice, 3, "the second of thread 8");
        refused.note(Refusal::Cut, 1, format_args!("{} bytes", 1000));
        refused.note(Refusal::Silence, 0, "to 0 questions");
        assert_eq!((refused.count(Refusal::Twice), refused.total()), (4, 5));
        assert_eq!(
            refused.take_lines(),
            [
                "refused a taskstats message: second answer to one question: the second of thread 7",
                "refused a taskstats message: cut off: longer than its slot: 1000 bytes",
            ]
        );
        assert!(refused.take_lines().is_empty());
    }
}
