//! One connection to a database, as a transaction sees it.

pub use crate::date::Date;
pub use crate::decimal::Decimal;
pub use crate::error::SessionError;
pub use crate::results::ResultSet;
pub use crate::value::{Access, Param};

use crate::batch::Batch;
use crate::statement::{Dialect, StatementId};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::Duration;
use uring::Ring;

/// A session runs one statement or one batch at a time. The owner of the file descriptor polls the futures; they are pending only
/// while the server has not answered. In-process engines have no descriptor and are never pending. A session stays on
/// one thread while it is used.
///
/// A future may be dropped half-way; the session then skips the late answer before the one to the next request. The
/// effect of the dropped request on an open transaction is unknown, so a rollback should follow.
///
/// Contract of the futures: the first poll sends the request as far as the socket takes it, then returns `Pending`
/// without trying to read. So the owner waits for readiness (edge-triggered), and later polls read. Owners need to wait
/// for reading only: while a request does not fit the socket, every poll wakes its waker, which means to be polled
/// again soon.
#[allow(async_fn_in_trait)]
pub trait Session {
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
    /// Lets all bytes go through a ring from now on, which reports the token when something has arrived. Returns false if the
    /// session cannot do that.
    fn attach(&mut self, _ring: &Ring, _token: u32) -> io::Result<bool> {
        Ok(false)
    }
    fn dialect(&self) -> Dialect;
    async fn begin(&mut self, access: Access) -> Result<(), SessionError>;
    async fn commit(&mut self) -> Result<(), SessionError>;
    /// Rolls back the open transaction; does nothing if there is none.
    async fn rollback(&mut self) -> Result<(), SessionError>;
    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError>;
    /// Executes a statement that was not prepared, so that the server plans it for the values in it. `name` is for
    /// errors. Values belong into a [`Template`](crate::template::Template), which writes them in the session's
    /// dialect. The text must be one statement; a second one in it is refused.
    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError>;
    /// Executes the requests of a batch, which then has their answers.
    async fn run(&mut self, batch: &mut Batch) -> Result<(), SessionError> {
        one_by_one(self, batch).await
    }
    /// The database gives up statements that take longer than this from now on, and refuses them. Called outside of a transaction.
    /// Sessions without a database ignore it.
    async fn limit_statements(&mut self, _limit: Duration) -> Result<(), SessionError> {
        Ok(())
    }
    /// What was done since the session was opened.
    fn work(&self) -> SessionWork;
}

/// Executes each request after the answer to the one before it.
pub(crate) async fn one_by_one<S: Session + ?Sized>(session: &mut S, batch: &mut Batch) -> Result<(), SessionError> {
    if let Some(access) = batch.begins() {
        session.begin(access).await?;
    }
    let mut answers = batch.take_answers();
    let executed = execute_each(session, batch, &mut answers).await;
    batch.put_answers(answers);
    executed?;
    if batch.commits() {
        session.commit().await?;
    }
    Ok(())
}

async fn execute_each<S: Session + ?Sized>(
    session: &mut S,
    batch: &Batch,
    answers: &mut [ResultSet],
) -> Result<(), SessionError> {
    let mut params = Vec::new();
    for (number, answer) in (0..batch.len()).zip(answers) {
        params.clear();
        params.extend(batch.params(number));
        answer.clone_from(session.execute(batch.statement(number), &params).await?);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionWork {
    pub statements: u64,
    /// Times that requests were sent and their answers awaited, those that only begin and end transactions included.
    pub round_trips: u64,
    pub rows_returned: u64,
    pub rows_changed: u64,
}

/// Opens sessions with a given set of statements prepared. Opening may block.
pub trait Connect {
    type Session: Session;
    fn connect(&self) -> Result<Self::Session, SessionError>;
    /// Opens sessions on another thread while the caller goes on; `None` if the engine's sessions cannot leave the
    /// thread that opened them.
    fn opener<'scope>(&'scope self, _: &'scope Scope<'scope, '_>) -> Option<BoxedOpener<'scope, Self::Session>>
    where
        Self: Sync,
    {
        None
    }
}

/// Sessions that are opened while their owner does other things.
pub trait Opener<S> {
    /// Requests one more session.
    fn ask(&self);
    /// The next session that is open, or why it could not be opened; never waits.
    fn opened(&self) -> Option<Result<S, SessionError>>;
}

pub type BoxedOpener<'scope, S> = Box<dyn Opener<S> + Send + 'scope>;

/// A thread that opens one session after another. It ends when its owner drops this.
struct OpeningThread<S> {
    wanted: Sender<()>,
    opened: Receiver<Result<S, SessionError>>,
}

impl<S> Opener<S> for OpeningThread<S> {
    fn ask(&self) {
        // Sending fails only if the thread panicked: otherwise it lives as long as this.
        let _ = self.wanted.send(());
    }

    fn opened(&self) -> Option<Result<S, SessionError>> {
        self.opened.try_recv().ok()
    }
}

/// For engines whose sessions may be opened on one thread and used on another.
pub fn open_aside<'scope, C>(connect: &'scope C, scope: &'scope Scope<'scope, '_>) -> BoxedOpener<'scope, C::Session>
where
    C: Connect + Sync,
    C::Session: Send + 'scope,
{
    let (wanted, is_wanted) = channel();
    let (finished, opened) = channel();
    scope.spawn(move || {
        while is_wanted.recv().is_ok() {
            if finished.send(connect.connect()).is_err() {
                return;
            }
        }
    });
    Box::new(OpeningThread { wanted, opened })
}
