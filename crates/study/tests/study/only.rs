//! Choosing a part of a plan.

use crate::fixture::{plan, plus};
use insta::assert_snapshot;
use record::plan::Plan;

fn larger() -> Plan {
    plan(&plus(
        r#"
[[scenario]]
name = "small"
set = { "machine.vcpus" = 1 }

[[scenario]]
name = "large"
set = { "machine.vcpus" = 3 }
"#,
    ))
}

fn chosen(words: &[&str]) -> String {
    let plan = larger();
    let words = words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let part = match study::only(&plan, &words) {
        Ok(part) => part,
        Err(error) => return error.to_string(),
    };
    let told = part.trials.iter().map(|trial| {
        let cell = &part.cells[trial.cell as usize];
        format!("{}:{}/{}/{}", trial.id, trial.block, cell.contender, cell.scenario.as_deref().unwrap_or(""))
    });
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn no_words_choose_everything() {
    assert_eq!(study::only(&larger(), &[]), Ok(larger()));
}

#[test]
fn words_of_one_kind_add_up_and_words_of_different_kinds_narrow() {
    assert_snapshot!(chosen(&[]), @"");
    assert_snapshot!(chosen(&["native"]), @"");
    assert_snapshot!(chosen(&["native", "vm", "block=2"]), @"");
    assert_snapshot!(chosen(&["contender=vm", "scenario=small"]), @"");
    assert_snapshot!(chosen(&["large", "cell=1", "cell=2"]), @"");
    assert_snapshot!(chosen(&["trial=7"]), @"");
}

#[test]
fn words_that_name_nothing_say_what_is_known() {
    assert_snapshot!(chosen(&["nativ"]), @"");
    assert_snapshot!(chosen(&["scenario=vm"]), @"");
    assert_snapshot!(chosen(&["phase=2"]), @"");
    assert_snapshot!(chosen(&["block=3"]), @"");
    assert_snapshot!(chosen(&["trial=seven"]), @"");
    assert_snapshot!(chosen(&["native", "cell=3"]), @"");
}
