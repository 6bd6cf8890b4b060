//! Whether a run with a wished precision gets another block: this reads the record, and `analysis` decides.

use analysis::stopping::{self, Attained, NextBlock};
use record::error::RecordError;
use record::folder::RunFolder;
use record::plan::Plan;
use record::precision::Precision;
use record::run::Run;
use study::TypedPlan;
use trial::order::NextPlan;

/// The plan with another block, or with the reason why there is none; `None` if there is nothing to decide.
pub fn what_follows(folder: &RunFolder, plan: &TypedPlan) -> Result<Option<NextPlan>, RecordError> {
    // Reading a long record takes a second, which studies without a wish save.
    if folder.plan()?.precision.is_none_or(|wish| wish.ended.is_some()) {
        return Ok(None);
    }
    let run = Run::open(folder.path())?;
    Ok(stopping::next(&run).map(|(attained, next)| match next {
        NextBlock::AnotherBlock => another_block(&plan.with(run.plan.clone()), &attained),
        NextBlock::Stop(ended) => {
            let wish = Precision { ended: Some(ended), ..attained.wish };
            let plan = Plan { precision: Some(wish), ..run.plan };
            NextPlan { plan, expected_ms: 0, why: report::precision::sentence(&Attained { wish, ..attained }) }
        }
    }))
}

fn another_block(plan: &TypedPlan, attained: &Attained) -> NextPlan {
    let grown = plan.grown(plan.blocks + 1);
    let added = grown.trials.iter().filter(|trial| trial.block == grown.blocks).cloned().collect();
    let estimate = study::estimate(&grown.with_trials(added));
    let expected_ms = estimate.total_ms - estimate.preparing_ms;
    NextPlan { plan: grown.plan().clone(), expected_ms, why: report::precision::shortfall(attained) }
}
