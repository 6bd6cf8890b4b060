//! A server that talks without end.

use crate::build;
use fleet::Arrangement;
use fleet::bridge::Bridge;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Greets, and answers the first question again and again. Ends with the connection.
fn chatter(client: &TcpStream) -> std::io::Result<()> {
    let mut to = client;
    let info = r#"INFO {"server_id":"a","server_name":"a","version":"2.10.0","go":"","host":"127.0.0.1","port":4222,"headers":true,"max_payload":1048576,"proto":1}"#;
    write!(&mut to, "{info}\r\n")?;
    let mut subscription = String::new();
    for line in BufReader::new(client.try_clone()?).lines() {
        let line = line?;
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["PING"] => write!(&mut to, "PONG\r\n")?,
            ["SUB", subject, number] => subscription = format!("{subject} {number}"),
            ["PUB", _, _, "0"] => loop {
                write!(&mut to, "MSG {subscription} 2\r\n{{}}\r\n")?;
            },
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn a_roll_call_that_never_ends_is_ended() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            std::thread::spawn(move || chatter(&client));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lab.toml");
    std::fs::write(&file, format!("name = \"lab\"\nserver = \"nats://{address}\"\n")).unwrap();
    let bridge = Bridge::connect(&Arrangement::read(&file).unwrap(), build('a')).unwrap();
    assert_eq!(bridge.roll_call().unwrap().len(), 0, "nothing that it says is an agent");
}
