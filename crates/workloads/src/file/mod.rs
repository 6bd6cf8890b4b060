//! File: the user's own transactions, from SQL scripts as pgbench takes them.

mod checks;
mod expression;
mod lex;
mod mistake;
mod names;
mod script;
mod settings;
mod transactions;

use crate::chunks::no_rows;
use crate::condition::DataCheck;
use crate::dataset::{DataTable, Dataset, RowSource, TablePart, findings};
use crate::effects::Effects;
use crate::entry::{ThroughputMetric, UNMEASURED, WorkloadEntry, WorkloadScripts};
use crate::execution::Execution;
use crate::judgement::{Judgement, judgement};
use crate::ledger::Ledger;
use crate::random::RandomStream;
use crate::share::AllowedShare;
use crate::workload::{Ending, TransactionKind, User, Workload};
use ::settings::Problem;
use checks::FileCheck;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use mistake::Mistake;
use record::MOST_KINDS;
use record::check::{CheckResult, Moment};
use script::TransactionScript;
use serde_json::{Map, Value};

pub use settings::{File, FileSettings, KEYS};
pub use transactions::FileInput;

pub const KIND: &str = "file";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "your own transactions, from SQL scripts as pgbench takes them",
    keys: KEYS,
    driving_keys: &[],
    own_phases: false,
    metric: ThroughputMetric { name: "TPS", unit: "transactions/s", per_ms: 1_000 },
    notice: "These are your own statements. Numbers compare only where the scripts, the data and the settings are the \
        same; they are not comparable with those of pgbench or of any published benchmark.",
    deviations: &[
        "A failed transaction is rolled back and counted; pgbench gives up the client. A deadlock or a serialization failure is \
         tried again with the same values, unless an earlier part of the script is committed.",
        "Every variable is bound as a parameter of a prepared statement, as with pgbench -M prepared.",
        "Random values come from this project's own generator: the same seed gives other values than in pgbench.",
        "Response times include \\sleep, as in pgbench.",
    ],
    // The statements that make and fill the tables are in files of the user.
    scripts: WorkloadScripts::NONE,
    stored: UNMEASURED,
};

/// The scripts, parsed.
#[derive(Debug)]
pub struct OwnTransactions {
    scripts: Vec<PlannedScript>,
    weights: u64,
    kinds: &'static [TransactionKind],
    setup: String,
    checks: Vec<FileCheck>,
}

/// A script and its place among all scripts.
#[derive(Debug)]
pub struct PlannedScript {
    name: &'static str,
    weight: u32,
    script: TransactionScript,
    /// The place of its first statement among those of all scripts.
    first_statement: u16,
    /// The kind of that statement's step, if statements are timed.
    first_step: Option<u16>,
}

impl OwnTransactions {
    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: FileSettings = ::settings::read(table, KEYS)?;
        let mut problems = Vec::new();
        let mut note = |path: &str, file: &File, mistake: Mistake| problems.push(mistake.of_file(path, &file.name));
        let mut scripts: Vec<(&File, TransactionScript)> = Vec::new();
        for file in &settings.scripts {
            match script::parse(&file.text) {
                Ok(_) if scripts.iter().any(|(other, _)| other.stem() == file.stem()) => {
                    note("scripts", file, Mistake::new(1, "another script has this name", "each file once"));
                }
                Ok(script) => scripts.push((file, script)),
                Err(mistake) => note("scripts", file, mistake),
            }
        }
        let mut checks = Vec::new();
        for file in &settings.checks {
            checks::parse(file).map_or_else(|mistake| note("checks", file, mistake), |found| checks.extend(found));
        }
        if scripts.iter().map(|(_, script)| script.statements.len() + 1).sum::<usize>() > usize::from(u16::MAX) {
            note(
                "scripts",
                scripts[0].0,
                Mistake::new(1, "more statements than can be distinguished", "fewer than 65,535"),
            );
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let setup = settings.setup.iter().map(|file| file.text.as_str()).collect::<Vec<_>>().join("\n");
        let weights = settings.scripts.iter().map(|file| u64::from(file.weight)).sum();
        let scripts = planned(scripts, settings.statement_latencies);
        let kinds = names::kinds(&scripts);
        if kinds.len() > MOST_KINDS {
            let (path, what, expected) = if settings.statement_latencies {
                ("statement_latencies", "scripts and statements", " where statements are timed by themselves")
            } else {
                ("scripts", "scripts", "")
            };
            let (found, expected) = (format!("{} {what}", kinds.len()), format!("at most {MOST_KINDS}{expected}"));
            return Err(vec![Problem::new(path, found, expected)]);
        }
        Ok(Self { scripts, weights, kinds, setup, checks })
    }
}

/// Numbers the statements of all scripts consecutively.
fn planned(scripts: Vec<(&File, TransactionScript)>, times_statements: bool) -> Vec<PlannedScript> {
    let transactions = u16::try_from(scripts.len()).unwrap_or(u16::MAX);
    let mut first_statement = 0;
    let place = |(file, script): (&File, TransactionScript)| {
        let count = u16::try_from(script.statements.len()).unwrap_or(u16::MAX);
        let (name, weight) = (names::kept(file.stem()), file.weight);
        let first_step = times_statements.then(|| transactions.saturating_add(first_statement));
        let planned = PlannedScript { name, weight, script, first_statement, first_step };
        first_statement += count;
        planned
    };
    scripts.into_iter().map(place).collect()
}

/// What a client draws its transactions from.
#[derive(Debug, Clone)]
pub struct FileClient {
    number: u32,
    stream: RandomStream,
}

impl Workload for OwnTransactions {
    type Input = FileInput;
    type Client = FileClient;

    const COUNTERS: &'static [&'static str] = &[];
    const OWN_SQL: bool = false;

    fn kinds(&self) -> &'static [TransactionKind] {
        self.kinds
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        let of_script = |planned: &PlannedScript| {
            let name = planned.name;
            let named = |sql: &script::ScriptStatement| Statement {
                name: names::of_statement(name, sql),
                sql: sql.text(dialect),
            };
            planned.script.statements.iter().map(named).collect::<Vec<_>>()
        };
        self.scripts.iter().flat_map(of_script).collect()
    }

    fn client(&self, user: User) -> FileClient {
        FileClient {
            number: user.index,
            stream: RandomStream::new(user.seed, "file client", [user.index, u32::from(user.phase)]),
        }
    }

    fn next(&self, client: &mut FileClient) -> Option<FileInput> {
        let mut drawn = client.stream.below(self.weights);
        let mut chosen = 0;
        for (planned, script) in self.scripts.iter().zip(0..) {
            chosen = script;
            match drawn.checked_sub(u64::from(planned.weight)) {
                Some(rest) => drawn = rest,
                None => break,
            }
        }
        Some(FileInput { script: chosen, client: client.number, stream: client.stream.fork() })
    }

    fn kind(&self, input: &FileInput) -> u16 {
        input.script
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &FileInput,
        effects: &mut Effects<'_, FileInput>,
    ) -> Result<Ending, SessionError> {
        transactions::run(&self.scripts[usize::from(input.script)], session, input, effects).await
    }
}

/// The setup statements make all rows, so this workload knows nothing of tables.
impl Dataset for OwnTransactions {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        &[]
    }

    fn expected_rows(&self, _: &DataTable) -> u64 {
        0
    }

    fn rows(&self, _: &str, _: TablePart) -> Box<dyn RowSource + '_> {
        no_rows()
    }

    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        self.checks.iter().map(|query| query.judge(check.admin)).collect()
    }

    fn judge_ledger(&self, _: &Ledger<'_>) -> Vec<Judgement> {
        Vec::new()
    }

    /// Whether the shares of the scripts among the transactions are those of their weights.
    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        let done = |script: &PlannedScript| {
            execution.totals(script.name).map_or(0, |totals| totals.finished() + totals.failed)
        };
        let all = self.scripts.iter().map(done).sum();
        let share = |script: &PlannedScript| {
            let share = AllowedShare::exactly(f64::from(script.weight) / self.weights as f64);
            let rule = format!("{} is {} of {} transactions, by its weight.", script.name, script.weight, self.weights);
            judgement(format!("share-of-{}", script.name), rule, share.judge(done(script), all))
        };
        // A single script always has all transactions.
        if self.scripts.len() > 1 { self.scripts.iter().map(share).collect() } else { Vec::new() }
    }

    fn schema(&self, _: Dialect) -> String {
        self.setup.clone()
    }

    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
        if self.checks.is_empty() && moment == Moment::AfterTrial {
            return Ok(vec![CheckResult::unchecked(KIND, "no file of checks is named")]);
        }
        let judged = self.judge_data(&mut DataCheck { admin, dialect, moment })?;
        Ok(findings(&ENTRY, judged, moment))
    }
}
