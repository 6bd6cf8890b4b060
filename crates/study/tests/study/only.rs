//! Choosing a part of a plan.

use crate::fixture::{STUDY, against_itself, plan, plus};
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
    assert_snapshot!(chosen(&[]), @"1:1/native/large 2:1/vm/large 3:1/native/small 4:1/vm/small 5:2/vm/small 6:2/native/large 7:2/vm/large 8:2/native/small");
    assert_snapshot!(chosen(&["native"]), @"1:1/native/large 3:1/native/small 6:2/native/large 8:2/native/small");
    assert_snapshot!(chosen(&["native", "vm", "block=2"]), @"5:2/vm/small 6:2/native/large 7:2/vm/large 8:2/native/small");
    assert_snapshot!(chosen(&["contender=vm", "scenario=small"]), @"4:1/vm/small 5:2/vm/small");
    assert_snapshot!(chosen(&["large", "cell=1", "cell=2"]), @"1:1/native/large 6:2/native/large");
    assert_snapshot!(chosen(&["trial=7"]), @"7:2/vm/large");
}

#[test]
fn words_that_name_nothing_say_what_is_known() {
    assert_snapshot!(chosen(&["nativ"]), @r#""nativ" names nothing in this study; known are native, vm, small, large, block=N, cell=N, trial=N; did you mean "native"?"#);
    assert_snapshot!(chosen(&["scenario=vm"]), @r#""scenario=vm" names nothing in this study; known are native, vm, small, large, block=N, cell=N, trial=N; did you mean "vm"?"#);
    assert_snapshot!(chosen(&["phase=2"]), @r#""phase=2" names nothing in this study; known are native, vm, small, large, block=N, cell=N, trial=N"#);
    assert_snapshot!(chosen(&["block=3"]), @"block=3 is not in this study; it has block 1 to 2");
    assert_snapshot!(chosen(&["trial=seven"]), @"trial=seven is not in this study; it has trial 1 to 8");
    assert_snapshot!(chosen(&["native", "cell=3"]), @"no trial of this study is all of: native, cell=3");
}

#[test]
fn in_an_aa_study_the_name_of_a_contender_is_both_of_it() {
    let of = |word: &str| {
        let plan = study::only(&against_itself(STUDY), &[word.to_owned()]).unwrap();
        plan.trials
            .iter()
            .map(|trial| (trial.block, plan.cells[trial.cell as usize].contender.clone()))
            .collect::<Vec<_>>()
    };
    assert_snapshot!(format!("{:?}", of("vm")), @r#"[(1, "vm (again)"), (1, "vm"), (2, "vm"), (2, "vm (again)")]"#);
    assert_eq!(of("vm (again)").len(), 2);
}
