//! What holds for every study.

use crate::fixture::{STUDY, catalogs, host, plan, plus};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Pieces of studies in any order: nearer to a real study than arbitrary text.
fn near_study() -> impl Strategy<Value = String> {
    let lines = STUDY.lines().map(str::to_owned).collect::<Vec<_>>();
    let odd = [
        "[sweep]",
        "\"machine.vcpus\" = [1, 2]",
        "machine = 3",
        "[[scenario]]",
        "set = { \"a.b\" = 1 }",
        "[contender]",
    ];
    let odd =
        odd.iter().chain(&["\"\" = 1", "[machine.disk]", "\"machine..x\" = {}", "\".\" = []", "\"sweep.\" = [{}]"]);
    let lines = lines.into_iter().chain(odd.map(|line| (*line).to_owned())).collect::<Vec<_>>();
    prop::collection::vec(prop::sample::select(lines), 0..30).prop_map(|lines| lines.join("\n"))
}

/// A study with some sweep over values that are all valid.
fn swept() -> impl Strategy<Value = String> {
    let warehouses = prop::collection::btree_set(1..50_u32, 1..4);
    let clients = prop::collection::btree_set(1..50_u32, 1..4);
    (warehouses, clients, 1..6_u32, 0..1000_u32).prop_map(|(warehouses, clients, blocks, seed)| {
        let (warehouses, clients) = (Vec::from_iter(warehouses), Vec::from_iter(clients));
        plus(&format!("[sweep]\n\"workload.warehouses\" = {warehouses:?}\n\"load.clients\" = {clients:?}\n"))
            .replace("blocks = 2", &format!("blocks = {blocks}"))
            .replace("seed = 7", &format!("seed = {seed}"))
    })
}

proptest! {
    #[test]
    fn any_text_is_planned_or_refused(text: String) {
        let _ = study::plan("x", &text, study::Against::Baseline, &catalogs(), &host());
    }

    #[test]
    fn text_near_a_study_is_planned_or_refused_with_lines_inside_it(text in near_study()) {
        for problem in study::plan("x", &text, study::Against::Baseline, &catalogs(), &host()).err().unwrap_or_default() {
            prop_assert!(!problem.found.is_empty());
            prop_assert!(problem.line.is_none_or(|line| (1..=text.lines().count() + 1).contains(&line)));
        }
    }

    #[test]
    fn the_same_study_is_the_same_plan(text in swept()) {
        prop_assert_eq!(plan(&text), plan(&text));
    }

    #[test]
    fn each_block_holds_each_cell_once_with_one_seed(text in swept()) {
        let plan = plan(&text);
        let all = plan.cells.iter().map(|cell| cell.id).collect::<BTreeSet<_>>();
        for (at, block) in plan.trials.chunks(plan.cells.len()).enumerate() {
            prop_assert!(block.iter().all(|trial| trial.block as usize == at + 1 && trial.seed == block[0].seed));
            prop_assert_eq!(&block.iter().map(|trial| trial.cell).collect::<BTreeSet<_>>(), &all);
        }
        prop_assert_eq!(plan.trials.len(), plan.blocks as usize * plan.cells.len());
        prop_assert!(plan.trials.iter().zip(1..).all(|(trial, id)| trial.id == id));
    }

    #[test]
    fn overrides_stay_in_their_cell(text in swept()) {
        let base = plan(STUDY);
        for cell in plan(&text).cells {
            let of_base = base.cells.iter().find(|other| other.contender == cell.contender).unwrap();
            let mut expected = of_base.settings.tables().clone();
            for (path, value) in &cell.sweep {
                let (table, key) = path.split_once('.').unwrap();
                expected[table][key] = value.clone();
            }
            prop_assert_eq!(cell.settings.tables(), &expected);
        }
    }
}
