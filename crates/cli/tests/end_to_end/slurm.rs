//! Agents that a cluster of Slurm starts: a real one with four nodes, in namespaces on this machine.

use crate::setting::{Place, missing, text};
use crate::several_hosts::study;
use record::trial::Outcome;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CLUSTER: &str = include_str!("cluster.sh");

fn is_installed() -> bool {
    ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "/usr/sbin/nats-server"]
        .iter()
        .all(|file| Path::new(file).exists())
}

/// Nothing of it is left once its first process has ended.
struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    /// `None` where this cannot be done, and the test is skipped.
    fn new(placement: &str) -> Option<Self> {
        if missing("slurm", is_installed()) || missing("root", rustix::process::getuid().is_root()) {
            return None;
        }
        let cluster = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(cluster.file("cluster.sh"), CLUSTER).unwrap();
        std::fs::write(cluster.file("token"), "a secret\n").unwrap();
        std::fs::set_permissions(cluster.file("token"), PermissionsExt::from_mode(0o600)).unwrap();
        let lab = format!(
            "name = \"lab\"\nserver = \"nats://controller:4222\"\ntoken_file = \"token\"\n[placement]\n{placement}\n"
        );
        std::fs::write(cluster.file("lab.toml"), lab).unwrap();
        Some(cluster)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Carries out a script there, in which `bakeoff` is the program and `$LAB` the fleet's file.
    fn carry_out(&self, place: &Place, script: &str) -> Output {
        let words = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "bash"];
        let mut command = Command::new("unshare");
        command.args(words).arg(self.file("cluster.sh")).arg(self.folder.path());
        command.args(["bash", "-ec", &format!("bakeoff() {{ \"$BAKEOFF\" \"$@\"; }}\n{script}")]);
        let like = place.command(&[]);
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("BAKEOFF", env!("CARGO_BIN_EXE_bakeoff")).env("LAB", self.file("lab.toml"));
        command.env("STUDY", place.study()).current_dir(place.folder.path());
        command.output().expect("unshare")
    }
}

#[test]
fn a_job_of_agents_carries_out_a_study_and_leaves_nothing() {
    let Some(cluster) = Cluster::new("kind = \"slurm\"\nnodes = 3\noptions = [\"--partition=all\"]") else { return };
    let contenders = "[[contender]]\nname = \"node\"\nplatform = { kind = \"host\", server = \"installed\", host = \"sn1\" }\n\
                      [[contender]]\nname = \"controller\"\nplatform = { kind = \"native\" }\n";
    let load = "placement = \"outside\"\nfrom = [\"sn2\", \"sn3\"]";
    let place = Place::new(&study(load, contenders).replace("blocks = 2", "blocks = 1"));
    let script = "bakeoff fleet up $LAB\nbakeoff fleet up $LAB\n[ $(squeue --noheader | wc --lines) = 1 ]\nbakeoff fleet status $LAB\nbakeoff run $STUDY --fleet $LAB || case $? in 4|12) ;; *) exit 1 ;; esac\nbakeoff fleet down $LAB\n\
                  while squeue --noheader | grep . ; do sleep 0.2; done\nbakeoff fleet status $LAB\n";
    let output = cluster.carry_out(&place, script);
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{told}");
    for node in ["sn1 ", "sn2 ", "sn3 "] {
        assert!(said.lines().any(|line| line.starts_with(node)), "{said}");
    }
    assert!(!said.contains("refer to the same machine"), "{said}");
    assert!(told.contains("3 agents are there") && told.contains("3 agents have ended"), "{told}");
    assert!(told.trim_end().ends_with("no agent is in the fleet lab"), "{told}");
    let run = place.record();
    assert_eq!(run.trials.len(), 2);
    for trial in &run.trials {
        // On a machine that does other things besides, it may be no measurement.
        let outcome = &trial.record.outcome;
        assert!(matches!(outcome, Outcome::Completed | Outcome::Invalid { .. }), "{outcome:?}");
        assert!(trial.findings.len() >= 12 && trial.findings.iter().all(|finding| !finding.is_violated()));
        assert_eq!(trial.record.load_hosts.len(), 2);
    }
}

#[test]
fn a_job_that_does_not_start_is_told_with_its_reason_and_cancelled() {
    let Some(cluster) = Cluster::new("kind = \"slurm\"\nnodes = 5") else { return };
    let place = Place::new("");
    let output =
        cluster.carry_out(&place, "! bakeoff fleet up $LAB --wait 3s\nsqueue --noheader --states=PENDING,RUNNING\n");
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{told}");
    assert!(told.contains("0 of 5 agents are there: Slurm says that job"), "{told}");
    assert!(told.contains("PENDING"), "{told}");
    assert_eq!(said, "", "nothing waits any more");
}

#[test]
fn a_job_whose_agents_fail_is_told_with_what_they_said() {
    let Some(cluster) = Cluster::new("kind = \"slurm\"\nnodes = 2\noptions = [\"--begin=now+3\"]") else { return };
    let place = Place::new("");
    // The nodes do not find the program where this host has it.
    let script = "cd $(dirname $LAB)\ncp \"$BAKEOFF\" here\n./here fleet up $LAB --wait 5m &\n\
                  until squeue --noheader | grep --quiet . ; do sleep 0.1; done\nrm here\n! wait $!\n\
                  bakeoff fleet down $LAB\n! ls lab.slurm.log\n";
    let output = cluster.carry_out(&place, script);
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{told}");
    assert!(told.contains("0 of 2 agents are there: job "), "{told}");
    assert!(told.contains("is over; its agents said: ") && told.contains("not found"), "{told}");
}
