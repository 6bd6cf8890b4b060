//! The phases of a trial: one vocabulary for plans, live display, records and reports.

use std::fmt;

/// In the order of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Making the loaded data that trials share. It is not a phase of a trial, but a trial can fail because it failed.
    Load,
    Clone,
    Boot,
    /// Starting the server.
    Start,
    /// Searching for the number of clients with the most throughput; only if the study asks for that.
    Climb,
    WarmUp,
    Measure,
    Check,
    /// Stopping the server and the agent.
    ShutDown,
    /// Waiting until the machine is gone.
    Stop,
}

impl Phase {
    /// The phases that every trial goes through.
    pub const OF_A_TRIAL: [Self; 8] =
        [Self::Clone, Self::Boot, Self::Start, Self::WarmUp, Self::Measure, Self::Check, Self::ShutDown, Self::Stop];

    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Clone => "clone",
            Self::Boot => "boot",
            Self::Start => "start",
            Self::Climb => "climb",
            Self::WarmUp => "warm up",
            Self::Measure => "measure",
            Self::Check => "check",
            Self::ShutDown => "shut down",
            Self::Stop => "stop",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_glossary() {
        let names = Phase::OF_A_TRIAL.map(Phase::name).join(", ");
        let glossary = include_str!("../../../GLOSSARY.md");
        assert!(glossary.contains(&format!("a named step of a trial: {names}")), "GLOSSARY.md does not list {names}");
    }
}
