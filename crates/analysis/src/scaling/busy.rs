//! What was at its limit at a size of a curve. A curve that bends because the load engine or the CPUs are at theirs says nothing
//! else about the platform.

use crate::cells::CellResult;
use crate::measures::counted::CPUS_BUSY;

/// CPUs that are busy for such a share of the time, or more, are saturated.
const CPUS_SATURATED: f64 = 0.95;
/// A thread of the load engine that works for such a share of the time, or more, is.
const ENGINE_SATURATED: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saturated {
    LoadEngine,
    Cpus,
    Neither,
    Unknown,
}

impl Saturated {
    pub fn of(cell: &CellResult) -> Self {
        let load_engine = cell.driver.as_ref().map(|driver| driver.busiest_shard);
        Self::by(cell.level(CPUS_BUSY).map(|busy| busy.point), load_engine)
    }

    fn by(cpus: Option<f64>, load_engine: Option<f64>) -> Self {
        match cpus {
            _ if load_engine.is_some_and(|share| share >= ENGINE_SATURATED) => Self::LoadEngine,
            Some(busy) if busy >= CPUS_SATURATED => Self::Cpus,
            Some(_) => Self::Neither,
            None => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_engine_is_named_before_the_cpus() {
        let of = |cpus, engine| Saturated::by(cpus, Some(engine));
        assert_eq!(of(Some(0.99), 0.95), Saturated::LoadEngine);
        assert_eq!(of(Some(0.95), 0.5), Saturated::Cpus);
        assert_eq!(of(Some(0.94), 0.5), Saturated::Neither);
        assert_eq!(of(None, 0.5), Saturated::Unknown);
    }
}
