//! Whether this host can carry out a plan, as far as that is known without starting anything: tools, room, devices, KVM.

use crate::tools;
use anyhow::Result;
use record::plan::{Cell, Plan};
use study::Storage;
use trial::site::Site;

/// One sentence each.
pub struct Readiness {
    /// Without these, trials would fail.
    pub lacking: Vec<String>,
    /// What contenders will have to do without.
    pub without: Vec<String>,
}

/// Of the trials of this plan. The room is that of `site`, so tests of the host come with a place to run at.
pub fn of(plan: &Plan, site: &Site) -> Result<Readiness> {
    let cells = plan.cells.iter().filter(|cell| plan.trials.iter().any(|trial| trial.cell == cell.id));
    let cells: Vec<&Cell> = cells.collect();
    let mut lacking: Vec<String> = tools::require_for(plan).err().map(|lacks| lacks.to_string()).into_iter().collect();
    lacking.extend(trial::room::lacking(plan, &plan.trials, site)?);
    let mut without = Vec::new();
    for cell in cells {
        let add = |list: &mut Vec<String>, text: String| {
            let sentence = format!("contender {}: {text}", cell.contender);
            if !list.contains(&sentence) {
                list.push(sentence);
            }
        };
        if let Some((kind, table)) = study::kind_and_table(cell, "platform")
            && let Some(why) = platforms::catalog::foreseen(kind, &table, &site.cache)
        {
            add(&mut without, why);
        }
        if let Some(why) = device_lacks(cell) {
            add(&mut lacking, why);
        }
    }
    Ok(Readiness { lacking, without })
}

fn device_lacks(cell: &Cell) -> Option<String> {
    let disk = study::machine(cell).ok()?.disk;
    let device = disk.device.filter(|_| disk.storage == Storage::Device)?;
    images::data::require_idle(device.as_ref(), disk.size_bytes.0).err().map(|error| error.to_string())
}
