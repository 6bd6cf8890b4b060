//! Contenders with several hosts.

use analysis::summary::analyse;
use record::run::Run;
use record::synthetic;

/// The synthetic run, whose contenders run on these hosts, block after block.
fn on(hosts: [[&str; 2]; 2]) -> Run {
    let mut run = synthetic::run(6);
    for trial in &mut run.plan.trials {
        trial.host = Some(hosts[trial.cell as usize][(trial.block as usize - 1) % 2].to_owned());
    }
    run
}

#[test]
fn the_page_shows_what_each_host_did_and_whether_they_agree() {
    let run = on([["a", "b"], ["a", "b"]]);
    let markdown = report::markdown(&run, &analyse(&run));
    let from = markdown.find("## Hosts").expect("the section");
    let length = markdown[from + 2..].find("\n## ").map_or(markdown.len() - from, |length| length + 2);
    insta::assert_snapshot!(&markdown[from..from + length]);
}

#[test]
fn the_page_says_that_contenders_ran_on_different_hosts() {
    let run = on([["a", "b"], ["c", "d"]]);
    let markdown = report::markdown(&run, &analyse(&run));
    let told = "kvm ran on c and d, and native on a and b: what differs between these hosts is part of the difference";
    assert!(markdown.contains(told) && markdown.contains("`several-hosts`"), "{markdown}");
    assert!(!markdown.contains("The change on each host"));
    let alone = synthetic::run(3);
    assert!(!report::markdown(&alone, &analyse(&alone)).contains("## Hosts"));
}
