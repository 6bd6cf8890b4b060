//! Writes the folder of a made-up run of many trials: `many_trials FOLDER TRIALS`. `cargo xtask bench report` reports it.

use record::synthetic;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(Ok(trials))) = (arguments.next(), arguments.next().map(|word| word.parse::<u32>())) else {
        eprintln!("usage: many_trials FOLDER TRIALS");
        return ExitCode::FAILURE;
    };
    match synthetic::stored::write(&synthetic::run(trials / 2), Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
