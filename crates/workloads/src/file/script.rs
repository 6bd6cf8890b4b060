//! One script: the steps of a transaction, checked as far as possible without a database.

use super::expression::{Expression, ScriptValue, Variable};
use super::lex::{self, LexedStatement, ScriptItem, StatementPiece, is_of_name, word};
use super::mistake::Mistake;
use crate::random::RandomStream;
use engines::session::Access;
use engines::statement::Dialect;
use std::time::Duration;

/// Limit of a script's variables and of a statement's parameters, so that those of a transaction need no heap.
pub const MOST: usize = 64;
/// The variable that every script has, in the first place.
pub const CLIENT: &str = "client_id";
/// Commands of pgbench that are not supported; a script that needs them would do something else without them.
const NOT_HERE: [&str; 14] = [
    "\\aset",
    "\\gset",
    "\\if",
    "\\elif",
    "\\else",
    "\\endif",
    "\\setshell",
    "\\shell",
    "\\startpipeline",
    "\\endpipeline",
    "\\syncpipeline",
    "\\getline",
    "\\echo",
    "\\i",
];
const HERE: [&str; 2] = ["\\set", "\\sleep"];

#[derive(Debug, Clone, PartialEq)]
pub struct TransactionScript {
    pub steps: Vec<ScriptStep>,
    pub statements: Vec<ScriptStatement>,
    /// How many there are, `client_id` included.
    pub variables: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ScriptStep {
    Set {
        place: usize,
        line: usize,
        to: Expression,
    },
    Sleep {
        line: usize,
        length: Expression,
        unit: Duration,
    },
    Begin(Access),
    Commit,
    Rollback,
    /// Index into the script's statements.
    Execute(usize),
}

/// A statement with one parameter for each mention of a variable, since the same variable may have two types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStatement {
    pub line: usize,
    /// Its number among the statements that begin in this line, from 1.
    pub nth: usize,
    pieces: Vec<String>,
    /// The parameters between the pieces.
    pub parameters: Vec<Parameter>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    pub place: usize,
    is_double: bool,
}

impl ScriptStatement {
    pub fn text(&self, dialect: Dialect) -> String {
        let mut text = self.pieces[0].clone();
        for ((piece, parameter), number) in self.pieces[1..].iter().zip(&self.parameters).zip(1..) {
            // A double is bound as its text. Only SQLite would not take that for a number.
            text = match dialect {
                Dialect::Sqlite if parameter.is_double => format!("{text}CAST(${number} AS REAL){piece}"),
                _ => format!("{text}${number}{piece}"),
            };
        }
        text
    }
}

/// Reads a script. Everything that can be checked without a database is checked here; its sums are calculated once, too.
pub fn parse(text: &str) -> Result<TransactionScript, Mistake> {
    let known = vec![Variable { name: CLIENT.to_owned(), is_double: false }];
    let mut reading = ScriptReading { known, steps: Vec::new(), statements: Vec::new(), begun: None };
    for item in lex::items(text)? {
        match item {
            ScriptItem::Command { line, text } => reading.command(line, &text)?,
            ScriptItem::Statement(statement) => reading.statement(&statement)?,
        }
    }
    if let Some(line) = reading.begun {
        return Err(Mistake::new(line, "found BEGIN without an end", "COMMIT or ROLLBACK after it"));
    }
    if reading.statements.is_empty() {
        return Err(Mistake::new(1, "found no statement", "at least one"));
    }
    let ScriptReading { known, steps, statements, .. } = reading;
    let script = TransactionScript { steps, statements, variables: known.len() };
    script.tried()?;
    Ok(script)
}

impl TransactionScript {
    /// Calculates all sums once, so that one without a value is found before anything runs.
    fn tried(&self) -> Result<(), Mistake> {
        let (mut variables, mut stream) = ([ScriptValue::Integer(0); MOST], RandomStream::new(0, "file tried", [0, 0]));
        for step in &self.steps {
            let (ScriptStep::Set { line, to: expression, .. } | ScriptStep::Sleep { line, length: expression, .. }) =
                step
            else {
                continue;
            };
            let value = expression.value(&variables, &mut stream);
            let value =
                value.map_err(|why| Mistake::new(*line, format!("found {why}"), "an expression that has a value"))?;
            if let ScriptStep::Set { place, .. } = step {
                variables[*place] = value;
            }
        }
        Ok(())
    }
}

struct ScriptReading {
    known: Vec<Variable>,
    steps: Vec<ScriptStep>,
    statements: Vec<ScriptStatement>,
    /// The line where the open transaction begins.
    begun: Option<usize>,
}

impl ScriptReading {
    fn command(&mut self, line: usize, text: &str) -> Result<(), Mistake> {
        let command = word(text);
        let rest = text[command.len()..].trim();
        match command {
            "\\set" => self.set(line, rest),
            "\\sleep" => self.sleep(line, rest),
            _ if NOT_HERE.contains(&command) => {
                let expected = "only \\set and \\sleep of pgbench's backslash commands";
                Err(Mistake::new(line, format!("found {command}"), expected))
            }
            _ => Err(Mistake::unknown(line, "command", command, HERE.into_iter())),
        }
    }

    fn set(&mut self, line: usize, rest: &str) -> Result<(), Mistake> {
        let name = word(rest);
        let is_name =
            name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') && name.chars().all(is_of_name);
        if !is_name {
            return Err(Mistake::new(line, format!("found \\set {rest}"), "\\set name expression"));
        }
        let to = Expression::parse(&rest[name.len()..], line, &self.known)?;
        let variable = Variable { name: name.to_owned(), is_double: to.is_double() };
        let place = match self.known.iter().position(|known| known.name == name) {
            Some(place) => {
                self.known[place] = variable;
                place
            }
            None if self.known.len() == MOST => {
                return Err(Mistake::new(line, format!("found {} variables", MOST + 1), format!("at most {MOST}")));
            }
            None => {
                self.known.push(variable);
                self.known.len() - 1
            }
        };
        self.steps.push(ScriptStep::Set { place, line, to });
        Ok(())
    }

    fn sleep(&mut self, line: usize, rest: &str) -> Result<(), Mistake> {
        let digits = rest.find(|letter: char| !is_of_name(letter) && letter != ':').unwrap_or(rest.len());
        // "10ms" is accepted like "10 ms".
        let digits = if rest.starts_with(':') {
            digits
        } else {
            rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())
        };
        let unit = match rest[digits..].trim() {
            "us" => Duration::from_micros(1),
            "ms" => Duration::from_millis(1),
            "s" | "" => Duration::from_secs(1),
            _ => return Err(Mistake::new(line, format!("found \\sleep {rest}"), "\\sleep number us, ms or s")),
        };
        let length = Expression::parse(&rest[..digits], line, &self.known)?;
        self.steps.push(ScriptStep::Sleep { line, length, unit });
        Ok(())
    }

    fn statement(&mut self, statement: &LexedStatement) -> Result<(), Mistake> {
        let line = statement.line;
        let refused = |expected: &str| Err(Mistake::new(line, format!("found {}", statement.plain()), expected));
        let step = match Boundary::of(statement.plain()) {
            None => return self.execute(statement),
            Some(Boundary::Step(step)) => step,
            Some(Boundary::OtherBeginning) => {
                return refused("BEGIN or BEGIN READ ONLY; isolation is a setting of the server or of [engine]");
            }
            Some(Boundary::OtherEnd) => return refused("COMMIT or ROLLBACK, and BEGIN for a further transaction"),
        };
        let begun = matches!(step, ScriptStep::Begin(_)).then_some(line);
        if begun.is_some() == self.begun.is_some() {
            return refused(if begun.is_some() { "COMMIT or ROLLBACK first" } else { "BEGIN before it" });
        }
        self.begun = begun;
        self.steps.push(step);
        Ok(())
    }

    fn execute(&mut self, statement: &LexedStatement) -> Result<(), Mistake> {
        let nth = self.statements.iter().filter(|earlier| earlier.line == statement.line).count() + 1;
        let mut sql =
            ScriptStatement { line: statement.line, nth, pieces: vec![String::new()], parameters: Vec::new() };
        for piece in &statement.pieces {
            match piece {
                // After a variable, an empty piece is there already.
                StatementPiece::Text(text) => sql.pieces.last_mut().into_iter().for_each(|last| last.push_str(text)),
                StatementPiece::Variable { line, name } => {
                    let found = self.known.iter().position(|known| known.name == *name);
                    let names = self.known.iter().map(|known| known.name.as_str());
                    let place = found.ok_or_else(|| Mistake::unknown(*line, "variable", name, names))?;
                    sql.parameters.push(Parameter { place, is_double: self.known[place].is_double });
                    sql.pieces.push(String::new());
                }
            }
        }
        if sql.parameters.len() > MOST {
            let found = format!("found {} variables in one statement", sql.parameters.len());
            return Err(Mistake::new(sql.line, found, format!("at most {MOST}")));
        }
        self.steps.push(ScriptStep::Execute(self.statements.len()));
        self.statements.push(sql);
        Ok(())
    }
}

/// A statement that begins or ends a transaction.
#[derive(Debug)]
enum Boundary {
    Step(ScriptStep),
    /// With a mode of its own.
    OtherBeginning,
    /// With something after the end: another transaction, or the end of the session.
    OtherEnd,
}

impl Boundary {
    /// By the grammars of PostgreSQL, MySQL and SQLite. Other uses of these words, as in `ROLLBACK TO`, are plain statements.
    fn of(statement: &str) -> Option<Self> {
        let words: Vec<String> = statement.split_whitespace().map(str::to_ascii_uppercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (first, rest) = words.split_first()?;
        let rest = if let ["WORK" | "TRANSACTION", after @ ..] = rest { after } else { rest };
        let end = match *first {
            "BEGIN" | "START" if *first == "BEGIN" || words.get(1) == Some(&"TRANSACTION") => {
                return Some(match rest {
                    [] | ["READ", "WRITE"] => Self::Step(ScriptStep::Begin(Access::ReadWrite)),
                    ["READ", "ONLY"] => Self::Step(ScriptStep::Begin(Access::ReadOnly)),
                    _ => Self::OtherBeginning,
                });
            }
            "COMMIT" | "END" => ScriptStep::Commit,
            "ROLLBACK" | "ABORT" => ScriptStep::Rollback,
            _ => return None,
        };
        match rest {
            [] | ["AND", "NO", "CHAIN"] | ["NO", "RELEASE"] | ["AND", "NO", "CHAIN", "NO", "RELEASE"] => {
                Some(Self::Step(end))
            }
            ["AND", "CHAIN", ..] | [.., "RELEASE"] => Some(Self::OtherEnd),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSFER: &str = "\
\\set aid random(1, 1000)
\\set share 0.5
BEGIN;
UPDATE accounts SET balance = balance + :share WHERE aid = :aid; -- :not
\\sleep 2 ms
INSERT INTO log
    VALUES (:aid, :client_id, ':aid', :aid::text);
END;
";

    #[test]
    fn a_script_becomes_steps_with_bound_variables() {
        let script = parse(TRANSFER).unwrap();
        let texts = |dialect| script.statements.iter().map(|sql| sql.text(dialect)).collect::<Vec<_>>();
        let log = "INSERT INTO log\n    VALUES ($1, $2, ':aid', $3::text)";
        let update = "UPDATE accounts SET balance = balance + $1 WHERE aid = $2";
        assert_eq!(texts(Dialect::Postgres), [update, log]);
        assert_eq!(texts(Dialect::Sqlite)[0], update.replace("$1", "CAST($1 AS REAL)"));
        let places = |index: usize| script.statements[index].parameters.iter().map(|one| one.place).collect::<Vec<_>>();
        assert_eq!((places(0), places(1)), (vec![2, 1], vec![1, 0, 1]));
        let millisecond = Duration::from_millis(1);
        let steps = &script.steps[2..];
        let [
            ScriptStep::Begin(Access::ReadWrite),
            ScriptStep::Execute(0),
            ScriptStep::Sleep { unit, .. },
            ScriptStep::Execute(1),
            ScriptStep::Commit,
        ] = steps
        else {
            panic!("{steps:?}");
        };
        assert_eq!(*unit, millisecond);
    }

    #[test]
    fn transactions_begin_and_end_in_every_way_of_the_servers() {
        let step = |text: &str| match Boundary::of(text) {
            Some(Boundary::Step(step)) => format!("{step:?}"),
            other => format!("{other:?}"),
        };
        for text in ["begin", "BEGIN WORK", "begin transaction read write", "START TRANSACTION"] {
            assert_eq!(step(text), "Begin(ReadWrite)", "{text}");
        }
        assert_eq!(step("begin work read only"), "Begin(ReadOnly)");
        for text in
            ["COMMIT", "commit and no chain", "END WORK", "COMMIT TRANSACTION AND NO CHAIN", "COMMIT NO RELEASE"]
        {
            assert_eq!(step(text), "Commit", "{text}");
        }
        for text in ["ROLLBACK", "ABORT WORK", "rollback work and no chain no release"] {
            assert_eq!(step(text), "Rollback", "{text}");
        }
        assert_eq!(step("BEGIN IMMEDIATE"), "Some(OtherBeginning)");
        assert_eq!(
            (step("COMMIT AND CHAIN"), step("COMMIT RELEASE")),
            ("Some(OtherEnd)".into(), "Some(OtherEnd)".into())
        );
        for text in ["ROLLBACK TO SAVEPOINT a", "START SLAVE", "COMMIT PREPARED 'a'", "SELECT 1", ""] {
            assert_eq!(step(text), "None", "{text}");
        }
    }

    #[test]
    fn what_a_script_may_not_say_is_told_with_its_line() {
        for (text, told) in [
            ("SELECT 1;\nSELECT :client_ip;", "line 2: unknown variable client_ip; expected client_id"),
            ("SELECT :a;\n\\set a 1", "line 1: unknown variable a;"),
            ("\\if true\nSELECT 1;", "line 1: found \\if; expected only \\set and \\sleep"),
            ("\\sett a 1\nSELECT 1;", "line 1: unknown command \\sett; expected \\set, \\sleep"),
            ("\\set 1 1", "line 1: found \\set 1 1; expected \\set name expression"),
            ("\\sleep 1 h", "line 1: found \\sleep 1 h; expected \\sleep number us, ms or s"),
            ("\\set a random(2, 1)\nSELECT 1;", "line 1: found an empty range: the second number is smaller"),
            ("BEGIN;\nSELECT 1;", "line 1: found BEGIN without an end; expected COMMIT or ROLLBACK after it"),
            ("SELECT 1;\nCOMMIT;", "line 2: found COMMIT; expected BEGIN before it"),
            ("BEGIN; BEGIN;", "line 1: found BEGIN; expected COMMIT or ROLLBACK first"),
            ("BEGIN; COMMIT AND CHAIN;", "line 1: found COMMIT AND CHAIN; expected COMMIT or ROLLBACK, and BEGIN"),
            (
                "BEGIN ISOLATION LEVEL SERIALIZABLE;",
                "line 1: found BEGIN ISOLATION LEVEL SERIALIZABLE; expected BEGIN or",
            ),
            ("-- Nothing.\n", "line 1: found no statement; expected at least one"),
        ] {
            let found = parse(text).unwrap_err().to_string();
            assert!(found.starts_with(told), "{found}");
        }
        assert_eq!(parse("\\set a 1\nSELECT :b;").unwrap_err().nearest, Some("a".to_owned()));
    }
}
