//! `bakeoff fleet manifest`: agents as a job of Kubernetes.

use crate::display::print;
use crate::exit::{EndedWith, Exit};
use crate::fleet::read;
use anyhow::Result;
use fleet::{AgentStarter, Arrangement};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Where the fleet's file and those that it names are, inside.
const FILES: &str = "/etc/bakeoff";
/// The cluster ends the agents after this.
const DEADLINE: Duration = Duration::from_hours(24);
/// What is left of the job is removed after this.
const KEPT_S: u64 = 600;
/// Programs on the node end, and what they made is removed, within this.
const GRACE_S: u64 = 60;
/// Only their owner may read the files.
const OWNER_ONLY: u32 = 0o400;

pub fn manifest(file: &Path) -> Result<Exit> {
    let arrangement = read(file)?;
    let Some(job) = job(&arrangement) else {
        let told = format!("{} has no [placement] with kind = \"kubernetes\"", file.display());
        return Err(EndedWith::bad_input(told).into());
    };
    print(&format!("{job:#}\n"));
    Ok(Exit::Done)
}

/// `None` if the agents are placed otherwise. Secrets are not in it: the cluster has them under the job's name.
fn job(arrangement: &Arrangement) -> Option<Value> {
    let Some(AgentStarter::Kubernetes { nodes, image, cpus, memory, privileged, deadline }) = &arrangement.placement
    else {
        return None;
    };
    // Names there have no underscores and no capitals.
    let name = format!("bakeoff-{}", arrangement.name.to_lowercase().replace('_', "-"));
    let labels = json!({ "app": name });
    let resources = json!({ "cpu": cpus.to_string(), "memory": memory });
    let file = arrangement.path().file_name().unwrap_or_default().to_string_lossy();
    let container = json!({
        "name": "agent",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/local/bin/bakeoff"],
        "args": ["fleet", "agent", format!("{FILES}/{file}"), "--name", "$(NODE)"],
        "env": [{ "name": "NODE", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } }],
        // As much as it may use is kept for it, so that it can have CPUs of its own.
        "resources": { "requests": resources, "limits": resources },
        "securityContext": { "privileged": privileged },
        "volumeMounts": [
            { "name": "fleet", "mountPath": FILES, "readOnly": true },
            { "name": "data", "mountPath": "/var/tmp" },
        ],
    });
    let pod = json!({
        "restartPolicy": "Never",
        // The node's own network: nothing is measured that a database there would not have.
        "hostNetwork": true,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "terminationGracePeriodSeconds": GRACE_S,
        // One agent on each node.
        "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
            { "labelSelector": { "matchLabels": labels }, "topologyKey": "kubernetes.io/hostname" },
        ] } },
        "containers": [container],
        "volumes": [
            { "name": "fleet", "secret": { "secretName": name, "defaultMode": OWNER_ONLY } },
            { "name": "data", "emptyDir": {} },
        ],
    });
    Some(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes,
            "parallelism": nodes,
            // A lost agent is a result, and is not started again in silence.
            "backoffLimit": 0,
            "activeDeadlineSeconds": deadline.unwrap_or(DEADLINE).as_secs(),
            "ttlSecondsAfterFinished": KEPT_S,
            "template": { "metadata": { "labels": labels }, "spec": pod },
        },
    }))
}
