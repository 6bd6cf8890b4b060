//! A working agent that misbehaves where its script says so. For this crate's tests of the conductor.
//!
//! Arguments: `agent --data FOLDER --logs FOLDER --name MACHINE`, then words `MESSAGE:DEED` or `MESSAGE:DEED@WHICH`. MESSAGE is
//! the name of a request or reply, or `greeting`; WHICH is a machine's number in the trial, or `loading`. `MESSAGE:DEED#NUMBER`
//! covers messages about that database. With `--listen ADDRESS --token-file FILE` at the end it serves over TCP.

#![allow(clippy::print_stderr)]

use agent::service::{Folders, serve};
use machines::frame::{Message, read_frame, write_frame};
use machines::listening;
use machines::token::Token;
use serde_json::{Value, json};
use std::io::{Read, Write, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const LISTEN: &str = "--listen";

#[derive(Debug, Clone)]
struct Deed {
    message: String,
    what: String,
    /// The database it is about, from 0; `None` means any.
    instance: Option<u16>,
}

struct Agent {
    deeds: Vec<Deed>,
    /// Once set, the agent sends nothing more.
    is_mute: AtomicBool,
    out: Mutex<Box<dyn Write + Send>>,
}

impl Agent {
    fn deed(&self, message: &str, instance: u16) -> Option<&str> {
        let is_meant = |deed: &&Deed| deed.message == message && deed.instance.is_none_or(|only| only == instance);
        Some(self.deeds.iter().find(is_meant)?.what.as_str())
    }

    fn say(&self, message: &impl serde::Serialize) {
        let mut out = self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !self.is_mute.load(Ordering::Relaxed) && write_frame(&mut *out, message).is_err() {
            std::process::exit(0);
        }
    }

    fn say_about(&self, number: u64, instance: u16, body: Value) {
        self.say(&Message { number, instance, body });
    }

    /// True if the message is passed on.
    fn passes(&self, name: &str, number: u64, instance: u16) -> bool {
        match self.deed(name, instance) {
            None | Some("runs-fast") => return true,
            Some("dies") => std::process::exit(7),
            Some("hangs") => self.is_mute.store(true, Ordering::Relaxed),
            Some("refuses") => {
                let failure = json!({ "why": "no", "log": "why not", "instance": instance });
                self.say_about(number, instance, json!({ "reply": "failed", "with": failure }));
            }
            Some("lies") => {
                self.say_about(number, instance, json!({ "reply": "server-log", "with": "something else" }));
            }
            Some("miscounts") => self.say_about(number + 1, instance, json!({ "reply": "done" })),
            Some("babbles") => {
                let mut out = self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let words = b"this is no frame of any kind";
                let _ = out.write_all(words).and_then(|()| out.flush());
                self.is_mute.store(true, Ordering::Relaxed);
            }
            Some(other) => {
                eprintln!("{other} is no deed");
                std::process::exit(2);
            }
        }
        false
    }

    /// The reply as the conductor gets it: the clock runs fast if the script says so.
    fn falsified(&self, mut reply: Value) -> Value {
        if self.deed("clock", 0) == Some("runs-fast")
            && let Some(now) = reply["with"]["monotonic_ns"].as_u64()
        {
            reply["with"]["monotonic_ns"] = (2 * now).into();
        }
        reply
    }
}

fn deeds(words: &[String]) -> Vec<Deed> {
    let machine = words[6].rsplit('-').next().unwrap_or_default();
    let deed = |word: &String| {
        let (message, what) = word.split_once(':')?;
        let (what, only) = what.split_once('@').map_or((what, None), |(what, only)| (what, Some(only)));
        let (what, instance) = what.split_once('#').map_or((what, None), |(what, number)| (what, number.parse().ok()));
        let instance = instance.map(|number: u16| number - 1);
        only.map_or(machine != "loading", |only| only == machine).then(|| Deed {
            message: message.to_owned(),
            what: what.to_owned(),
            instance,
        })
    };
    words[7..].iter().take_while(|word| *word != LISTEN).filter_map(deed).collect()
}

type Streams = (Box<dyn Read + Send>, Box<dyn Write + Send>);

/// The same streams that `bakeoff agent` has.
fn streams(words: &[String]) -> Result<Streams, Box<dyn std::error::Error>> {
    let Some(listen) = words.iter().position(|word| word == LISTEN) else {
        return Ok((Box::new(stdin()), Box::new(stdout())));
    };
    let token = Token::of_file(Path::new(&words[listen + 3]))?;
    let (read, write) = listening::listen(words[listen + 1].parse()?, token, &mut |told| eprintln!("{told}"))?;
    Ok((Box::new(read), Box::new(write)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let place = Folders { data: PathBuf::from(&words[2]), logs: PathBuf::from(&words[4]) };
    let (mut input, out) = streams(&words)?;
    let agent = Arc::new(Agent { deeds: deeds(&words), is_mute: AtomicBool::new(false), out: Mutex::new(out) });
    let (mut to_agent, requests) = UnixStream::pair()?;
    let (replies, mut from_agent) = UnixStream::pair()?;
    let speaker = Arc::clone(&agent);
    std::thread::spawn(move || {
        if let Ok(Some(greeting)) = read_frame::<Value>(&mut from_agent)
            && speaker.passes("greeting", 0, 0)
        {
            speaker.say(&greeting);
        }
        while let Ok(Some(Message { number, instance, body })) = read_frame::<Message<Value>>(&mut from_agent) {
            if speaker.passes(body["reply"].as_str().unwrap_or_default(), number, instance) {
                speaker.say_about(number, instance, speaker.falsified(body));
            }
        }
        std::process::exit(0);
    });
    std::thread::spawn(move || serve(requests, replies, place));
    while let Ok(Some(message)) = read_frame::<Message<Value>>(&mut input) {
        let name = message.body["request"].as_str().unwrap_or_default();
        if agent.passes(name, message.number, message.instance) {
            write_frame(&mut to_agent, &message)?;
        }
    }
    Ok(())
}
