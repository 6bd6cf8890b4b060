//! Text that must go with every number of this workload.

pub const NOTICE: &str = "The decision-support-h workload is derived from TPC-H. It does not follow all its rules, so its figures are not \
    comparable with published TPC-H results.";

pub const DEVIATIONS: &[&str] = &[
    "Queries are written anew, each for the same question, and in one text for all engines. Parameters come from a generator of \
     our own, which draws each over its whole domain.",
    "A power phase and a throughput phase follow each other once. The original runs both twice and counts the lower figure.",
    "The power phase has one session for the queries and both refresh functions.",
    "The refresh stream begins with the query streams and does not wait between its sets.",
    "Scales below 1 exist for tests. There, and at scales between those of the original, a refresh set has a thousandth of the orders.",
    "At most 999 refresh sets can be used before the data are loaded again, so that keys need only the first gap.",
    "Orders of queries beyond stream 12 are random permutations of our own.",
    "SQLite stores money as integers of cents and dates as texts. Its queries compute with these integers, so sums are exact, too. \
     Averages and ratios are binary floating point there.",
    "On SQLite, streams share one session for each thread of the driver. With fewer CPUs than streams, a question waits for another \
     stream's, and that time counts.",
    "Averages and ratios have as many digits as each engine gives them.",
    "Foreign keys, the ten secondary indexes and collation by bytes are the same on every engine.",
    "Neither price nor audit is part of it, and no figure is multiplied by the scale.",
];
