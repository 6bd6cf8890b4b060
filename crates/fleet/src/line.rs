//! One line: carries the streams of a program over NATS, until it has ended or the other end is lost.

use crate::link::Link;
use crate::tunnel::{Item, LONGEST_PIECE, Tunnel, TunnelPacket};
use async_nats::{Message, Request, RequestErrorKind, Subscriber};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{self, OwnedPermit, Receiver, Sender};
use tokio::time::{Interval, MissedTickBehavior};

/// After this long without a word, each end asks the other one.
const ASK_AFTER: Duration = Duration::from_secs(10);
/// An answer that takes longer was lost, or the server is away.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// While nobody listens at the other end, but the server is there. Others need seconds to come back to a server that restarted.
const GONE_AFTER: Duration = Duration::from_secs(8);
/// A server that comes back within this has cost nothing but time.
pub const AWAY_LIMIT: Duration = Duration::from_mins(5);
const TICK: Duration = Duration::from_secs(1);

/// Why the other end is taken for lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("it has ended, or has been disconnected for {} s", GONE_AFTER.as_secs())]
    Gone,
    #[error("nothing was heard from it for {} s", AWAY_LIMIT.as_secs())]
    Silent,
}

/// One end of a line, on NATS.
pub(crate) struct LineWire {
    link: Link,
    to: String,
    from: Subscriber,
    tunnel: Tunnel,
    heard: Instant,
    /// Since when nobody is known to listen there.
    nobody_since: Option<Instant>,
    ticks: Interval,
    answers: (Sender<LineAnswer>, Receiver<LineAnswer>),
    is_asking: bool,
}

enum LineAnswer {
    Heard(Bytes),
    Nobody,
    None,
}

impl LineWire {
    pub fn new(link: Link, to: String, from: Subscriber) -> Self {
        let now = Instant::now();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let tunnel = Tunnel::new(now);
        Self {
            link,
            to,
            from,
            tunnel,
            heard: now,
            nobody_since: None,
            ticks,
            answers: mpsc::channel(1),
            is_asking: false,
        }
    }

    pub fn may_send(&self) -> bool {
        self.tunnel.may_send()
    }

    pub fn is_all_there(&self) -> bool {
        self.tunnel.is_all_there()
    }

    pub async fn send(&mut self, item: Item) {
        let packet = self.tunnel.send(item, Instant::now());
        self.publish(packet).await;
    }

    /// A packet that is lost is sent again.
    async fn publish(&self, packet: TunnelPacket) {
        self.link.publish(self.to.clone(), packet.encoded()).await;
    }

    /// Whether the server is there.
    pub fn is_up(&self) -> bool {
        self.link.is_up()
    }

    /// Waits until something is heard or a tick passes. Nothing is lost if it is not waited for to the end.
    pub async fn look(&mut self) -> Result<(), Lost> {
        enum Came {
            Message(Option<Message>),
            Answer(Option<LineAnswer>),
            Tick,
        }
        let came = tokio::select! {
            message = self.from.next() => Came::Message(message),
            answer = self.answers.1.recv() => Came::Answer(answer),
            _ = self.ticks.tick() => Came::Tick,
        };
        match came {
            Came::Message(Some(message)) => {
                self.hear(&message.payload, message.reply.map(|reply| reply.to_string())).await;
            }
            // The connection is closed for good.
            Came::Message(None) => return Err(Lost::Gone),
            Came::Answer(answer) => {
                self.is_asking = false;
                match answer {
                    Some(LineAnswer::Heard(payload)) => self.hear(&payload, None).await,
                    Some(LineAnswer::Nobody) => drop(self.nobody_since.get_or_insert_with(Instant::now)),
                    Some(LineAnswer::None) | None => {}
                }
            }
            Came::Tick => return self.tick().await,
        }
        Ok(())
    }

    async fn hear(&mut self, payload: &Bytes, reply: Option<String>) {
        let Some(packet) = TunnelPacket::decoded(payload) else { return };
        let now = Instant::now();
        (self.heard, self.nobody_since) = (now, None);
        let wants_report = self.tunnel.hear(packet, now);
        let to = match reply {
            Some(reply) => reply,
            None if wants_report => self.to.clone(),
            None => return,
        };
        self.link.publish(to, self.tunnel.report().encoded()).await;
    }

    async fn tick(&mut self) -> Result<(), Lost> {
        let now = Instant::now();
        if !self.is_up() {
            // Who was missing before may be back when the server is.
            self.nobody_since = None;
        }
        if self.nobody_since.is_some_and(|since| now - since > GONE_AFTER) {
            return Err(Lost::Gone);
        }
        if now - self.heard > AWAY_LIMIT {
            return Err(Lost::Silent);
        }
        for packet in self.tunnel.again(now) {
            self.publish(packet).await;
        }
        if self.is_up() && !self.is_asking && (now - self.heard > ASK_AFTER || self.nobody_since.is_some()) {
            self.is_asking = true;
            let (client, to, answers) = (self.link.client.clone(), self.to.clone(), self.answers.0.clone());
            let question = Request::new().payload(self.tunnel.report().encoded()).timeout(Some(ANSWER_LIMIT));
            tokio::spawn(async move {
                let answer = match client.send_request(to, question).await {
                    Ok(message) => LineAnswer::Heard(message.payload),
                    Err(error) if error.kind() == RequestErrorKind::NoResponders => LineAnswer::Nobody,
                    Err(_) => LineAnswer::None,
                };
                let _ = answers.send(answer).await;
            });
        }
        Ok(())
    }

    pub fn waiting(&self) -> Option<&Item> {
        self.tunnel.next()
    }

    /// The oldest item has been passed on. The other end hears of it if its window was nearly closed.
    pub async fn pass_on(&mut self) -> Option<Item> {
        let item = self.tunnel.pass_on();
        if self.tunnel.next().is_none() {
            self.publish(self.tunnel.report()).await;
        }
        item
    }
}

/// Writes what comes into a stream, until the channel is closed. If nobody reads the stream any more, the rest is dropped.
pub(crate) fn writing(mut stream: impl AsyncWrite + Unpin + Send + 'static) -> Sender<Bytes> {
    let (sender, mut pieces) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        let mut is_read = true;
        while let Some(piece) = pieces.recv().await {
            is_read = is_read && stream.write_all(&piece).await.is_ok();
        }
        let _ = stream.shutdown().await;
    });
    sender
}

/// The next piece of a stream; waits for ever if there is no stream, and takes it away at its end.
pub(crate) async fn piece_of(stream: &mut Option<impl AsyncRead + Unpin>) -> Option<Bytes> {
    let Some(open) = stream else { return std::future::pending().await };
    let mut piece = BytesMut::with_capacity(LONGEST_PIECE);
    match open.read_buf(&mut piece).await {
        Ok(length) if length > 0 => Some(piece.freeze()),
        _ => {
            *stream = None;
            None
        }
    }
}

/// A place for one more piece; waits for ever if there is no writer.
pub(crate) async fn place_in(writer: Option<Sender<Bytes>>) -> Option<OwnedPermit<Bytes>> {
    match writer {
        Some(writer) => writer.reserve_owned().await.ok(),
        None => std::future::pending().await,
    }
}
