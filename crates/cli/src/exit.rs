//! Exit codes: one table for all commands, printed by `bakeoff --help` and repeated in the README.

use rustix::io::Errno;
use std::io::ErrorKind;

/// How a command ended, as other programs see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// Something failed that has no code of its own.
    Failed = 1,
    /// The command line, the study or another input is wrong; nothing was started.
    BadInput = 2,
    /// This host lacks something that was needed (a tool, an image that cannot be built, a full disk).
    Host = 3,
    /// The run ended, but trials or audits failed, or trials are invalid.
    TrialsFailed = 4,
    /// The run ended, but contenders were skipped because this host cannot run or audit them.
    Skipped = 5,
    /// The run ended, but data checks were violated.
    DataWrong = 6,
    /// A comparison of two runs found a regression.
    Regressed = 7,
    /// A comparison of two runs found no regression but could not look at everything.
    Untold = 8,
    /// What was driven is not what was asked for: the database refused too much of it.
    Refusing = 9,
    /// A comparison of two runs found no regression but could not rule one out.
    NotRuledOut = 10,
    /// An audit found a loss that no setting declares.
    Lies = 11,
    /// The run ended, and nothing failed, but something could turn an answer round.
    NotUsable = 12,
    /// Stopped by the user; `--resume` goes on.
    Interrupted = 130,
}

impl Exit {
    pub const ALL: [Self; 14] = [
        Self::Done,
        Self::Failed,
        Self::BadInput,
        Self::Host,
        Self::TrialsFailed,
        Self::Skipped,
        Self::DataWrong,
        Self::Regressed,
        Self::Untold,
        Self::Refusing,
        Self::NotRuledOut,
        Self::Lies,
        Self::NotUsable,
        Self::Interrupted,
    ];

    pub fn code(self) -> u8 {
        self as u8
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed for a reason that no other code stands for",
            Self::BadInput => "the command line, the study or another input is wrong; nothing was started",
            Self::Host => "this host lacks something needed: a tool, an image, space",
            Self::TrialsFailed => "the run ended, but trials or audits failed, or trials are invalid",
            Self::Skipped => "the run ended, but contenders were skipped because this host cannot run or audit them",
            Self::DataWrong => "the run ended, but data checks were violated",
            Self::Regressed => "compare found a regression beyond the threshold",
            Self::Untold => "compare found no regression, but some or all figures could not be compared",
            Self::Refusing => "drive ended, but more than 1 % of the transactions failed",
            Self::NotRuledOut => {
                "compare found no regression, but could not rule one out (--allow-undecided lets it pass)"
            }
            Self::Lies => "a durability audit found a loss that no setting declares",
            Self::NotUsable => "the run ended, but an answer is not usable: its report names the doubts",
            Self::Interrupted => "stopped by the user; --resume goes on",
        }
    }

    /// Of the ends of several trials of a drive, and of their checks, the gravest counts.
    pub fn or_graver(self, other: Self) -> Self {
        const BY_GRAVITY: [Exit; 5] =
            [Exit::Done, Exit::TrialsFailed, Exit::Refusing, Exit::Interrupted, Exit::DataWrong];
        std::cmp::max_by_key(self, other, |exit| BY_GRAVITY.iter().position(|known| known == exit))
    }

    /// The exit code for an error: its own, or `Host` if the host lacks room, the right to write, or file descriptors.
    pub fn after(error: &anyhow::Error) -> Self {
        let is_lack = |cause: &std::io::Error| {
            let room =
                matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge);
            let files = matches!(Errno::from_io_error(cause), Some(Errno::MFILE | Errno::NFILE));
            room || files || cause.kind() == ErrorKind::ReadOnlyFilesystem
        };
        match error.downcast_ref::<EndedWith>() {
            Some(ended) => ended.exit,
            None if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_lack) => Self::Host,
            None => Self::Failed,
        }
    }

    /// The table as printed below `--help`.
    pub fn table() -> String {
        let rows = Self::ALL.iter().map(|exit| format!("  {:>3}  {}", exit.code(), exit.meaning()));
        format!("Exit codes:\n{}", rows.collect::<Vec<_>>().join("\n"))
    }
}

/// An error that ends a command with a given code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EndedWith {
    pub exit: Exit,
    pub message: String,
}

impl EndedWith {
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self { exit: Exit::BadInput, message: message.into() }
    }

    pub fn host(message: impl Into<String>) -> Self {
        Self { exit: Exit::Host, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_data_of_one_trial_outweigh_what_another_ends_with() {
        for other in [Exit::Done, Exit::TrialsFailed, Exit::Refusing, Exit::Interrupted] {
            assert_eq!([Exit::DataWrong.or_graver(other), other.or_graver(Exit::DataWrong)], [Exit::DataWrong; 2]);
        }
        assert_eq!(Exit::TrialsFailed.or_graver(Exit::Done), Exit::TrialsFailed);
        assert_eq!(Exit::Refusing.or_graver(Exit::TrialsFailed), Exit::Refusing);
    }

    #[test]
    fn a_host_that_lacks_something_is_told_from_a_failure() {
        let after = |number: i32| {
            let error = anyhow::Error::from(std::io::Error::from_raw_os_error(number));
            Exit::after(&error.context("writing plan.json").context("beginning a run"))
        };
        // Full, over quota, read-only, too large, and too many files of the process and of the host.
        assert_eq!([28, 122, 30, 27, 24, 23].map(after), [Exit::Host; 6]);
        assert_eq!([2, 13, 5].map(after), [Exit::Failed; 3]);
    }

    /// The README has these rows and no others between the heading of its section and the next heading.
    #[test]
    fn the_readme_has_the_same_table() {
        let readme = include_str!("../../../README.md");
        let (_, section) = readme.split_once("## Exit codes\n").unwrap();
        let (section, _) = section.split_once("\n## ").unwrap();
        let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
        let rows: Vec<String> = rows.map(|row| row.replace('`', "")).collect();
        let expected = Exit::ALL.map(|exit| format!("| {} | {} |", exit.code(), exit.meaning()));
        assert_eq!(rows, expected);
    }
}
