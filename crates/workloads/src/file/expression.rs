//! Expressions of `\set`, as in pgbench: 64-bit integers and doubles, whose types are known before anything runs.

use super::lex::is_of_name;
use super::mistake::Mistake;
use crate::random::{Distribution, DistributionShape, RandomStream};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScriptValue {
    Integer(i64),
    Double(f64),
}

/// A variable that was set above: its name, and whether it is a double.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub is_double: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Literal(ScriptValue),
    Variable { place: usize, is_double: bool },
    Negated(Box<Self>),
    Binary(Operator, Box<[Self; 2]>),
    Call(Function, Vec<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

settings::names! {
    /// What may be called.
    pub enum Function {
        Abs => "abs",
        Double => "double",
        Greatest => "greatest",
        Int => "int",
        Least => "least",
        Max => "max",
        Min => "min",
        Random => "random",
        RandomExponential => "random_exponential",
        RandomGaussian => "random_gaussian",
        RandomZipfian => "random_zipfian",
    }
}

impl Function {
    /// The least and the greatest number of arguments.
    fn takes(self) -> (usize, usize) {
        match self {
            Self::Abs | Self::Double | Self::Int => (1, 1),
            Self::Greatest | Self::Least | Self::Max | Self::Min => (1, usize::MAX),
            Self::Random => (2, 2),
            Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian => (3, 3),
        }
    }
}

impl Expression {
    pub fn parse(text: &str, line: usize, known: &[Variable]) -> Result<Self, Mistake> {
        let mut parsing = Parsing { rest: text.trim_start(), line, known };
        let parsed = parsing.sum()?;
        if parsing.rest.is_empty() { Ok(parsed) } else { Err(parsing.unexpected("an operator or the end of the line")) }
    }

    pub fn is_double(&self) -> bool {
        match self {
            Self::Literal(value) => matches!(value, ScriptValue::Double(_)),
            Self::Variable { is_double, .. } => *is_double,
            Self::Negated(of) => of.is_double(),
            Self::Binary(Operator::Modulo, _) => false,
            Self::Binary(_, of) => of.iter().any(Self::is_double),
            Self::Call(function, of) => match function {
                Function::Double => true,
                Function::Abs | Function::Greatest | Function::Least | Function::Max | Function::Min => {
                    of.iter().any(Self::is_double)
                }
                _ => false,
            },
        }
    }

    pub fn value(&self, variables: &[ScriptValue], stream: &mut RandomStream) -> Result<ScriptValue, &'static str> {
        match self {
            Self::Literal(value) => Ok(*value),
            Self::Variable { place, .. } => Ok(variables[*place]),
            Self::Negated(of) => match of.value(variables, stream)? {
                ScriptValue::Integer(value) => value.checked_neg().map(ScriptValue::Integer).ok_or(TOO_LARGE),
                ScriptValue::Double(value) => Ok(ScriptValue::Double(-value)),
            },
            Self::Binary(operator, of) => {
                let (left, right) = (of[0].value(variables, stream)?, of[1].value(variables, stream)?);
                calculated(*operator, left, right)
            }
            Self::Call(function, of) => called(*function, of, variables, stream, self.is_double()),
        }
    }
}

const TOO_LARGE: &str = "a whole number of more than 64 bits";
const BY_ZERO: &str = "a division by zero";

impl ScriptValue {
    fn double(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Double(value) => value,
        }
    }

    /// Doubles are rounded, as in pgbench.
    pub fn integer(self) -> Result<i64, &'static str> {
        /// 2^63, which is exact.
        const END: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Integer(value) => Ok(value),
            Self::Double(value) if (-END..END).contains(&value.round_ties_even()) => {
                Ok(truncated(value.round_ties_even()))
            }
            Self::Double(_) => Err(TOO_LARGE),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "callers see to it that it fits")]
fn truncated(number: f64) -> i64 {
    number as i64
}

fn calculated(operator: Operator, left: ScriptValue, right: ScriptValue) -> Result<ScriptValue, &'static str> {
    if let (ScriptValue::Integer(left), ScriptValue::Integer(right)) = (left, right) {
        let value = match operator {
            Operator::Plus => left.checked_add(right),
            Operator::Minus => left.checked_sub(right),
            Operator::Times => left.checked_mul(right),
            Operator::Over | Operator::Modulo if right == 0 => return Err(BY_ZERO),
            Operator::Over => left.checked_div(right),
            Operator::Modulo => Some(left.wrapping_rem(right)),
        };
        return value.map(ScriptValue::Integer).ok_or(TOO_LARGE);
    }
    if operator == Operator::Modulo {
        return calculated(operator, ScriptValue::Integer(left.integer()?), ScriptValue::Integer(right.integer()?));
    }
    let (left, right) = (left.double(), right.double());
    Ok(ScriptValue::Double(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        _ if right == 0.0 => return Err(BY_ZERO),
        _ => left / right,
    }))
}

fn called(
    function: Function,
    of: &[Expression],
    variables: &[ScriptValue],
    stream: &mut RandomStream,
    is_double: bool,
) -> Result<ScriptValue, &'static str> {
    let first = of[0].value(variables, stream)?;
    let shaped = match function {
        Function::Abs => {
            return match first {
                ScriptValue::Integer(value) => value.checked_abs().map(ScriptValue::Integer).ok_or(TOO_LARGE),
                ScriptValue::Double(value) => Ok(ScriptValue::Double(value.abs())),
            };
        }
        Function::Double => return Ok(ScriptValue::Double(first.double())),
        Function::Int => return first.integer().map(ScriptValue::Integer),
        Function::Greatest | Function::Max | Function::Least | Function::Min => {
            let wants_greater = matches!(function, Function::Greatest | Function::Max);
            let mut best = first;
            for other in &of[1..] {
                let other = other.value(variables, stream)?;
                let is_greater = match (other, best) {
                    (ScriptValue::Integer(other), ScriptValue::Integer(best)) => other > best,
                    _ => other.double() > best.double(),
                };
                best = if is_greater == wants_greater { other } else { best };
            }
            return Ok(if is_double { ScriptValue::Double(best.double()) } else { best });
        }
        Function::Random => None,
        Function::RandomExponential | Function::RandomGaussian | Function::RandomZipfian => {
            Some(of[2].value(variables, stream)?.double())
        }
    };
    let (low, high) = (first.integer()?, of[1].value(variables, stream)?.integer()?);
    let count = high.checked_sub(low).and_then(|more| more.checked_add(1)).ok_or("a range of more than 63 bits")?;
    let count =
        u64::try_from(count).ok().filter(|count| *count > 0).ok_or("an empty range: the second number is smaller")?;
    let drawn = match (function, shaped) {
        (Function::RandomExponential, Some(parameter)) => exponential(stream, count, parameter)?,
        (Function::RandomGaussian, Some(parameter)) => gaussian(stream, count, parameter)?,
        (_, Some(exponent)) if (1.001..=1000.0).contains(&exponent) => {
            Distribution::new(DistributionShape::Zipfian { exponent }, count).draw(stream)
        }
        (_, Some(_)) => return Err("a zipfian parameter that is not from 1.001 to 1000"),
        (_, None) => stream.below(count),
    };
    Ok(ScriptValue::Integer(low + drawn.cast_signed()))
}

/// The place in a range of `count` at this share of it.
fn place(share: f64, count: u64) -> u64 {
    truncated(share * count as f64).unsigned_abs().min(count - 1)
}

fn exponential(stream: &mut RandomStream, count: u64, parameter: f64) -> Result<u64, &'static str> {
    if parameter <= 0.0 {
        return Err("an exponential parameter that is not above 0");
    }
    let cut = (-parameter).exp();
    let uniform = 1.0 - stream.fraction();
    Ok(place(-(cut + (1.0 - cut) * uniform).ln() / parameter, count))
}

/// Box and Muller's normal distribution, cut off at `parameter` standard deviations on either side.
fn gaussian(stream: &mut RandomStream, count: u64, parameter: f64) -> Result<u64, &'static str> {
    if parameter < 2.0 {
        return Err("a gaussian parameter below 2");
    }
    loop {
        let (one, other) = (1.0 - stream.fraction(), stream.fraction());
        let deviations = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).sin();
        if (-parameter..parameter).contains(&deviations) {
            return Ok(place((deviations + parameter) / (2.0 * parameter), count));
        }
    }
}

struct Parsing<'a> {
    rest: &'a str,
    line: usize,
    known: &'a [Variable],
}

impl Parsing<'_> {
    fn unexpected(&self, expected: &str) -> Mistake {
        let found =
            if self.rest.is_empty() { "the end of the line".to_owned() } else { self.rest.trim_end().to_owned() };
        Mistake::new(self.line, format!("found {found}"), expected)
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest[length..].trim_start();
    }

    fn one_of(&mut self, signs: &[(char, Operator)]) -> Option<Operator> {
        let (_, operator) = signs.iter().find(|(sign, _)| self.rest.starts_with(*sign))?;
        self.skip(1);
        Some(*operator)
    }

    fn sum(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.product()?;
        while let Some(operator) = self.one_of(&[('+', Operator::Plus), ('-', Operator::Minus)]) {
            left = Expression::Binary(operator, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.signed()?;
        while let Some(operator) =
            self.one_of(&[('*', Operator::Times), ('/', Operator::Over), ('%', Operator::Modulo)])
        {
            left = Expression::Binary(operator, Box::new([left, self.signed()?]));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, Mistake> {
        if self.rest.starts_with('-') {
            self.skip(1);
            return Ok(Expression::Negated(Box::new(self.signed()?)));
        }
        if self.rest.starts_with('+') {
            self.skip(1);
            return self.signed();
        }
        self.single()
    }

    fn single(&mut self) -> Result<Expression, Mistake> {
        if self.rest.starts_with('(') {
            self.skip(1);
            let inside = self.sum()?;
            self.expect(')')?;
            return Ok(inside);
        }
        if let Some(name) = self.rest.strip_prefix(':').map(name_of).filter(|name| !name.is_empty()) {
            let found = self.known.iter().position(|variable| variable.name == name);
            let names = self.known.iter().map(|variable| variable.name.as_str());
            let place = found.ok_or_else(|| Mistake::unknown(self.line, "variable", name, names))?;
            self.skip(name.len() + 1);
            return Ok(Expression::Variable { place, is_double: self.known[place].is_double });
        }
        if self.rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
            return self.number();
        }
        let name = name_of(self.rest);
        if name.is_empty() {
            return Err(self.unexpected("a number, a variable such as :name, a function or ("));
        }
        self.call(name)
    }

    fn number(&mut self) -> Result<Expression, Mistake> {
        let mut end =
            self.rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(self.rest.len());
        let power = self.rest[end..].strip_prefix(['e', 'E']);
        let unsigned = power.map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
        if let Some(unsigned) = unsigned.filter(|digits| digits.starts_with(|letter: char| letter.is_ascii_digit())) {
            let after = unsigned.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unsigned.len());
            end = self.rest.len() - unsigned.len() + after;
        }
        let text = &self.rest[..end];
        let integer = text.parse().ok().map(ScriptValue::Integer);
        let double =
            || text.parse().ok().filter(|_| !text.bytes().all(|byte| byte.is_ascii_digit())).map(ScriptValue::Double);
        let value = integer.or_else(double).ok_or_else(|| self.unexpected("a number of at most 64 bits"))?;
        self.skip(end);
        Ok(Expression::Literal(value))
    }

    fn call(&mut self, name: &str) -> Result<Expression, Mistake> {
        let lower = name.to_ascii_lowercase();
        let function: Result<Function, ValueError> = Function::deserialize(lower.as_str().into_deserializer());
        let known = Function::NAMES.iter().copied();
        let function = function.map_err(|_| Mistake::unknown(self.line, "function", name, known))?;
        self.skip(name.len());
        self.expect('(')?;
        let mut values = Vec::new();
        while values.is_empty() || self.rest.starts_with(',') {
            if !values.is_empty() {
                self.skip(1);
            }
            values.push(self.sum()?);
        }
        self.expect(')')?;
        let (least, most) = function.takes();
        if !(least..=most).contains(&values.len()) {
            let found = format!("found {} values for {name}", values.len());
            let expected = if most == usize::MAX { format!("at least {least}") } else { least.to_string() };
            return Err(Mistake::new(self.line, found, expected));
        }
        Ok(Expression::Call(function, values))
    }

    fn expect(&mut self, sign: char) -> Result<(), Mistake> {
        if !self.rest.starts_with(sign) {
            return Err(self.unexpected(&sign.to_string()));
        }
        self.skip(sign.len_utf8());
        Ok(())
    }
}

fn name_of(text: &str) -> &str {
    &text[..text.find(|letter| !is_of_name(letter)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<ScriptValue, String> {
        let known = [("a", false), ("b", true)].map(|(name, is_double)| Variable { name: name.to_owned(), is_double });
        let parsed = Expression::parse(text, 1, &known).map_err(|mistake| mistake.to_string())?;
        let value = parsed
            .value(&[ScriptValue::Integer(7), ScriptValue::Double(0.5)], &mut RandomStream::new(1, "test", [0, 0]))?;
        assert_eq!(parsed.is_double(), matches!(value, ScriptValue::Double(_)), "{text}");
        Ok(value)
    }

    /// The values are those that pgbench 15 gives.
    #[test]
    fn expressions_have_the_values_that_pgbench_gives_them() {
        for (text, expected) in [
            ("1 + 2 * 3 - 4", 3),
            ("(1 + 2) * 3", 9),
            ("-7 / 2", -3),
            ("-7 % 3", -1),
            ("- - 2", 2),
            (":a * 100", 700),
            ("int(5.4 + 3.8)", 9),
            ("int(2.5)", 2),
            ("abs(-17)", 17),
            ("greatest(5, 4, :a)", 7),
            ("LEAST(5, 4)", 4),
            ("max(1, 2) + min(1, 2)", 3),
            ("random(3, 3)", 3),
            ("random_zipfian(5, 5, 1.5)", 5),
        ] {
            assert_eq!(value(text), Ok(ScriptValue::Integer(expected)), "{text}");
        }
        for (text, expected) in [
            ("double(5432)", 5432.0),
            ("1.5e1", 15.0),
            (":b * 3", 1.5),
            ("7 / 2.0", 3.5),
            ("least(5, 4, 3, 2.1)", 2.1),
            ("greatest(5, 2.5)", 5.0),
            (".5", 0.5),
            ("abs(-.25)", 0.25),
        ] {
            assert_eq!(value(text), Ok(ScriptValue::Double(expected)), "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for (text, told) in [
            ("1 +", "line 1: found the end of the line; expected a number, a variable"),
            (":aa", "line 1: unknown variable aa; expected a, b"),
            ("randon(1, 2)", "line 1: unknown function randon; expected abs, double"),
            ("random(1)", "line 1: found 1 values for random; expected 2"),
            ("(1", "line 1: found the end of the line; expected )"),
            ("1 2", "line 1: found 2; expected an operator"),
            ("99999999999999999999", "line 1: found 99999999999999999999; expected a number of at most 64 bits"),
            ("1 / (1 - 1)", BY_ZERO),
            ("9223372036854775807 + 1", TOO_LARGE),
            ("random(2, 1)", "an empty range"),
            ("random_gaussian(1, 2, 1.9)", "a gaussian parameter"),
            ("random_zipfian(1, 2, 1)", "a zipfian parameter"),
            ("random_exponential(1, 2, 0)", "an exponential parameter"),
        ] {
            let found = value(text).unwrap_err();
            assert!(found.starts_with(told), "{text}: {found}");
        }
    }

    /// The shares are those of pgbench's documentation and of the distributions themselves.
    #[test]
    fn draws_stay_in_their_range_and_have_their_shape() {
        let share = |text: &str, of: std::ops::RangeInclusive<i64>| {
            let parsed = Expression::parse(text, 1, &[]).unwrap();
            let mut stream = RandomStream::new(5, "test", [0, 0]);
            let hits = (0..100_000).filter(|_| {
                let drawn = parsed.value(&[], &mut stream).unwrap().integer().unwrap();
                assert!((1..=100).contains(&drawn), "{drawn}");
                of.contains(&drawn)
            });
            hits.count() as f64 / 100_000.0
        };
        for (text, of, expected) in [
            ("random(1, 100)", 1..=25, 0.25),
            // The range is eight standard deviations wide: one on either side of the middle, then two.
            ("random_gaussian(1, 100, 4.0)", 38..=62, 0.682),
            ("random_gaussian(1, 100, 4.0)", 26..=75, 0.955),
            // 1 - e^-1, for a curve cut off at e^-10.
            ("random_exponential(1, 100, 10.0)", 1..=10, 0.632),
            // 1 / H(100, 2).
            ("random_zipfian(1, 100, 2.0)", 1..=1, 0.612),
        ] {
            let found = share(text, of.clone());
            assert!((found - expected).abs() < 0.01, "{text} in {of:?}: {found}");
        }
    }
}
