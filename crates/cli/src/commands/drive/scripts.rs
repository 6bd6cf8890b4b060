//! The workload to drive, with the files of the user's own transactions if it has any.

use crate::arguments::DriveOptions;
use crate::commands::workload;
use crate::exit::EndedWith;
use anyhow::Result;
use serde_json::{Map, json};
use study::ChosenWorkload;
use workloads::file;

pub fn workload(options: &DriveOptions) -> Result<ChosenWorkload> {
    let files = [
        ("--file", "scripts", &options.file),
        ("--setup-file", "setup", &options.setup_file),
        ("--check-file", "checks", &options.check_file),
    ];
    let given = files.into_iter().filter(|(_, _, files)| !files.is_empty());
    if options.workload != file::KIND
        && let Some((option, ..)) = given.clone().next()
    {
        let why = format!("{option} goes with the workload file, as in `bakeoff drive file URL --file transfer.sql`");
        return Err(EndedWith::bad_input(why).into());
    }
    if options.workload == file::KIND && options.file.is_empty() {
        let why = "the workload file needs a script of transactions, as in --file transfer.sql";
        return Err(EndedWith::bad_input(why).into());
    }
    let mut table: Map<_, _> = given.map(|(_, key, files)| (key.to_owned(), json!(files))).collect();
    if options.statement_latencies {
        if options.workload != file::KIND {
            return Err(EndedWith::bad_input("--statement-latencies goes with the workload file").into());
        }
        table.insert("statement_latencies".to_owned(), json!(true));
    }
    workload::made_with(&options.workload, table, &options.set)
}
