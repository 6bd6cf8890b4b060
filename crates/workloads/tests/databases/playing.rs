//! Plays all actors of a workload on a clock that only the test moves, in one session on one thread.
//!
//! So what follows from a transaction comes when it is due and in a fixed order, however fast the database is.

use crate::database::Database;
use crate::running::Told;
use engines::catalog::{ConnectVisitor, connect};
use engines::session::{Connect, Session, SessionError};
use engines::wait::block_on;
use record::trial::KindTotals;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::Duration;
use workloads::effects::{Effects, FollowUp, Tally};
use workloads::workload::{Ending, User, Workload};

/// Nothing here waits long; the limit is for a server that hangs.
const LIMIT: Duration = Duration::from_mins(2);
const START_NS: u64 = 1_000_000_000;

/// How one player plays.
#[derive(Debug, Clone, Copy)]
pub struct Score {
    /// Also the seed of all its users.
    pub player: u32,
    /// Of the first actor's user.
    pub transactions: u32,
    /// From one of them to the next.
    pub every: Duration,
    /// Whether what is due later is executed in the end.
    pub to_the_end: bool,
}

/// Plays these at the same time, each in a thread of its own. Actors that are paced, but for the first, have a user only in
/// the first player, who does their first transaction before anybody else begins.
pub fn play<W: Workload>(database: &Database, workload: &W, scores: &[Score]) -> Told {
    let playing = Playing { workload, scores, begin: &Barrier::new(scores.len()) };
    let (mut totals, mut tally) = (Vec::new(), Tally::new(W::COUNTERS.len()));
    for (own_totals, own_tally) in connect(&database.endpoint, workload.statements(database.dialect()), playing) {
        totals.extend(own_totals);
        tally.absorb(&own_tally);
    }
    let named = W::COUNTERS.iter().map(|name| (*name).to_owned()).zip(tally.0).collect();
    (KindTotals::summed(&totals), named)
}

struct Playing<'a, W> {
    workload: &'a W,
    scores: &'a [Score],
    begin: &'a Barrier,
}

impl<W: Workload> ConnectVisitor for Playing<'_, W> {
    type Answer = Vec<(Vec<KindTotals>, Tally)>;

    fn visit<C: Connect + Sync>(self, connect: &C) -> Self::Answer {
        let Self { workload, scores, begin } = self;
        std::thread::scope(|scope| {
            let play = |(place, score): (usize, &Score)| {
                let score = *score;
                scope.spawn(move || {
                    let now = Cell::new(START_NS);
                    let clock = || now.get();
                    let mut player = Player::new(workload, connect.connect().unwrap(), score, place == 0, &clock);
                    player.play(&now, score, begin);
                    (player.totals, player.tally)
                })
            };
            let players: Vec<_> = scores.iter().enumerate().map(play).collect();
            players.into_iter().map(|player| player.join().unwrap()).collect()
        })
    }
}

/// What is due, in order: when, by its number, with the user whose it is.
type Due<I> = BTreeMap<(u64, u64), (I, Option<u32>)>;

struct Player<'a, W: Workload, S> {
    workload: &'a W,
    session: S,
    /// Users of each actor.
    users: Vec<Vec<W::Client>>,
    effects: Effects<'a, W::Input>,
    due: Due<W::Input>,
    caused: u64,
    totals: Vec<KindTotals>,
    tally: Tally,
}

impl<'a, W: Workload, S: Session> Player<'a, W, S> {
    fn new(workload: &'a W, session: S, score: Score, is_first: bool, clock: &'a dyn Fn() -> u64) -> Self {
        let users = |(actor, is): (u16, &workloads::workload::Actor)| {
            let (first, count) = match (is.reacts, actor) {
                (true, _) => (0, is.users),
                (false, 0) => (score.player, 1),
                (false, _) => (0, u32::from(is_first)),
            };
            let user =
                |index| workload.client(User { seed: score.player.into(), phase: 0, actor, index, is_filler: false });
            (first..first + count).map(user).collect()
        };
        let total = |kind: &workloads::workload::TransactionKind| KindTotals {
            kind: kind.name.to_owned(),
            ..KindTotals::default()
        };
        Self {
            workload,
            session,
            users: (0_u16..).zip(workload.actors()).map(users).collect(),
            effects: Effects::new(W::COUNTERS.len(), clock, &|_| ()),
            due: BTreeMap::new(),
            caused: 0,
            totals: workload.kinds().iter().map(total).collect(),
            tally: Tally::new(W::COUNTERS.len()),
        }
    }

    fn play(&mut self, now: &Cell<u64>, score: Score, begin: &Barrier) {
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap();
        // The other paced actors, with the moments of their next transactions.
        let mut others: Vec<(u16, u64)> = (1..self.users.len())
            .filter(|actor| !self.workload.actors()[*actor].reacts && !self.users[*actor].is_empty())
            .map(|actor| (u16::try_from(actor).unwrap(), START_NS))
            .collect();
        for turn in 0..=score.transactions {
            for (actor, at) in &mut others {
                if *at <= now.get() {
                    *at = now.get() + nanos(self.next_of(*actor, now.get()));
                }
            }
            if turn == 0 {
                begin.wait();
                continue;
            }
            now.set(now.get() + nanos(score.every));
            self.run_due(now, now.get());
            self.next_of(0, now.get());
        }
        if score.to_the_end {
            self.run_due(now, u64::MAX);
        }
    }

    /// Executes the next transaction of an actor's only user. Returns how long the user then pauses.
    fn next_of(&mut self, actor: u16, now_ns: u64) -> Duration {
        let user = &mut self.users[usize::from(actor)][0];
        let input = self.workload.next(user).unwrap();
        let pause = self.workload.pause(user, &input, false).thinking;
        self.execute(&input, Some((actor, 0)), now_ns);
        pause
    }

    /// Executes what is due up to a moment, in order.
    fn run_due(&mut self, now: &Cell<u64>, until: u64) {
        while let Some(first) = self.due.first_entry().filter(|first| first.key().0 <= until) {
            let ((at, _), (input, user)) = first.remove_entry();
            now.set(now.get().max(at));
            let actor = self.workload.performer(&input);
            self.execute(&input, user.map(|user| (actor, user)), at);
        }
    }

    fn execute(&mut self, input: &W::Input, user: Option<(u16, u32)>, due_ns: u64) {
        self.effects.clear();
        self.effects.set_due(due_ns);
        let ending = self.until_it_ends(input);
        self.tally.absorb(&self.effects.tally);
        let totals = &mut self.totals[usize::from(self.workload.kind(input))];
        match ending {
            Ending::Committed => totals.committed += 1,
            Ending::RolledBack => totals.rolled_back += 1,
        }
        if let Some((actor, user)) = user {
            let state = &mut self.users[usize::from(actor)][user as usize];
            self.workload.learn(state, input, &mut self.effects);
        }
        let follow_ups: Vec<_> = self.effects.take_follow_ups().collect();
        for FollowUp { input, after, user } in follow_ups {
            if self.workload.is_note(&input) {
                let (actor, user) = (self.workload.performer(&input), user.unwrap());
                self.workload.note(&mut self.users[usize::from(actor)][user as usize], input);
            } else {
                self.caused += 1;
                let at = self.effects.now_ns() + u64::try_from(after.as_nanos()).unwrap();
                self.due.insert((at, self.caused), (input, user));
            }
        }
    }

    fn until_it_ends(&mut self, input: &W::Input) -> Ending {
        let name = self.workload.kinds()[usize::from(self.workload.kind(input))].name;
        let descriptor = self.session.descriptor().map(|descriptor| descriptor.try_clone_to_owned().unwrap());
        let descriptor = || descriptor.as_ref().map(std::os::fd::AsFd::as_fd);
        for _ in 0..100 {
            let Self { workload, session, effects, .. } = self;
            match block_on(workload.run(session, input, effects), descriptor(), LIMIT) {
                Ok(ending) => return ending,
                Err(SessionError::Retryable { .. }) => {
                    block_on(self.session.rollback(), descriptor(), LIMIT).unwrap();
                    self.effects.rewind();
                }
                Err(error) => panic!("{name}: {error}"),
            }
        }
        panic!("given up a hundred times: {name}");
    }
}
