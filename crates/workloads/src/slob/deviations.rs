//! Text that must go with every number of this workload.

pub const NOTICE: &str = "The slob workload follows the ideas of SLOB, an I/O load generator for Oracle databases by \
    Kevin Closson, and of its PostgreSQL counterpart pgio. It shares no code with them, runs other statements on other \
    databases, and its results are not comparable with theirs.";

pub const DEVIATIONS: &[&str] = &[
    "Operations are prepared statements sent by clients, one after another; SLOB runs a loop inside the database. The \
     driver's share of the work is in its testimony.",
    "A range has work_unit - 1 rows, as in SLOB, but begins anywhere in the schema or hot spot, so that the rows at \
     the ends are reached, too, and hot ranges do not reach out of the hot spot.",
    "Updates and scans are spread at random within their hundred, not bunched at its beginning; therefore shares from 51 \
     to 99 per cent are possible as well.",
    "Every update also adds one to a counter in each of its rows, so that lost and repeated updates are found.",
    "The hot spot's rhythm counts reads and updates only, and clients begin it at different beats.",
    "Pauses are drawn by chance of their own, with a resolution of a microsecond.",
    "Random text is made of the 62 Latin letters and digits.",
    "A schema is a pair of tables in one database, with the names slobN and slobN_scan.",
    "Sizes count 8 KiB for a row whatever the page: SQLite's pages have 4 KiB, so its tables are half as large.",
    "An InnoDB page holds at least two rows. Tables are made anew with pages filled to a tenth, which leaves two in each; \
     rows in one page are no neighbours by key, so a range still goes through as many pages as it has rows.",
    "Figures of the database and the device are read twice within the loaded window, never before or after it.",
    "One operation is one statement and commits by itself; the isolation is the engine's setting.",
];
