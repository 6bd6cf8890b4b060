//! Containers beside a native machine: a server in each, what is recorded of them, and what the report says.

use crate::runs::small;
use crate::setting::{NOT_USABLE, Place, missing, none_failed, text};
use platforms::oci::runtime::Runtime;
use record::facts::{Fact, RUNTIME, SYSTEM_CALLS};

const RUNTIMES: [&str; 3] = ["runc", "crun", "runsc"];

#[test]
fn a_server_runs_in_a_container_by_each_runtime() {
    let installed = RUNTIMES.into_iter().filter(|runtime| !missing("oci", Runtime::find(runtime).is_ok()));
    let installed: Vec<&str> = installed.collect();
    if installed.is_empty() {
        return;
    }
    let contender = |runtime: &&str| {
        format!("[[contender]]\nname = \"{runtime}\"\nplatform = {{ kind = \"oci\", runtime = \"{runtime}\" }}\n")
    };
    let contenders: String = installed.iter().map(contender).collect();
    let place = Place::new(&small("postgres", "1GiB", &contenders));
    let output = place.bakeoff(&["run", "study.toml"]);
    // On a busy host, the first transaction in gVisor takes more than a second.
    let whole = none_failed(&place, installed.len() + 1);
    assert_eq!(output.status.code(), if whole { NOT_USABLE } else { Some(4) }, "{}", text(&output.stderr));
    let run = place.record();
    for trial in &run.trials {
        assert!(trial.findings.iter().all(|finding| !finding.is_violated()), "{:#?}", trial.findings);
        let machine = trial.record.machine.as_ref().unwrap();
        let is_gvisor = trial.record.contender == "runsc";
        assert_eq!(machine.is_on_the_hosts_kernel(), !is_gvisor, "{:?}", machine.decided);
        assert!(matches!(&machine.decided[SYSTEM_CALLS], Fact::Known(_)));
        let runtime = machine.decided.get(RUNTIME).map(Fact::kind);
        assert_eq!(runtime.is_none(), trial.record.contender == "native");
        // The bundle is in the record, too.
        assert_eq!(machine.command_line.iter().any(|word| word.contains("ociVersion")), runtime.is_some());
    }
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    for runtime in &installed {
        assert!(markdown.contains(&format!("{runtime} (oci by {runtime} ")), "{runtime}");
    }
    assert_eq!(markdown.contains("system calls by gVisor"), installed.contains(&"runsc"));
    assert!(
        !markdown.contains("storage-differs") && !markdown.contains("storage.mount\\_options between"),
        "{markdown}"
    );
}
