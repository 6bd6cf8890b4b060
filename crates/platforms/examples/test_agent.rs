//! Only the agent of the bakeoff binary, for this crate's tests. They start real machines, and the whole binary is
//! built from crates that use this one.

#![allow(clippy::print_stderr)]

use agent::service::{Folders, serve};
use machines::listening::listen;
use machines::token::Token;
use platforms::host::there;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    if agent::guest::is_init(std::env::args_os().next().as_deref()) {
        agent::guest::run();
        return ExitCode::FAILURE;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["there", "keep", parent, name, connection] => {
            let kept = there::keep(Path::new(parent), name, connection, std::io::stdin(), std::io::stdout());
            if let Err(error) = &kept {
                eprintln!("{error}");
            }
            return status(kept.is_ok());
        }
        ["there", "run", folder] => {
            return status(there::run(Path::new(folder), std::io::stdin(), std::io::stdout()).is_ok_and(|well| well));
        }
        _ => {}
    }
    if let ["agent", "--listen", address, "--token-file", token, "--data", data, "--logs", logs] =
        words.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        return status(serve_one(address, token, data, logs).is_ok());
    }
    let [command, _, data, _, logs] = &words[..] else { return ExitCode::FAILURE };
    let place = Folders { data: PathBuf::from(data), logs: PathBuf::from(logs) };
    let served = command == "agent" && serve(std::io::stdin(), std::io::stdout(), place).is_ok();
    status(served)
}

/// Serves one conductor that has the token.
fn serve_one(address: &str, token: &str, data: &str, logs: &str) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(logs)?;
    let (read, write) = listen(address.parse()?, Token::of_file(Path::new(token))?, &mut |text| eprintln!("{text}"))?;
    Ok(serve(read, write, Folders { data: data.into(), logs: logs.into() })?)
}

fn status(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
