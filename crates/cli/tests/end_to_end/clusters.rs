//! What a Kubernetes cluster is given: an image, and a job. There is no cluster here, so the image is loaded and run by other tools,
//! and the job is held to the published schemas.

use crate::setting::{Place, has_qemu, missing, text};
use k8s_openapi::api::batch::v1::Job;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn done(program: &str, words: &[&str], folder: &Path) -> Output {
    let output = Command::new(program).args(words).current_dir(folder).output().expect(program);
    assert!(output.status.success(), "{program} {words:?}: {}", text(&output.stderr));
    output
}

#[test]
fn an_exported_image_has_the_same_bytes_each_time_and_runs() {
    let is_there = Path::new("/usr/bin/umoci").exists() && Path::new("/usr/sbin/runc").exists();
    if missing("qemu", has_qemu()) || missing("oci", is_there) || missing("root", rustix::process::getuid().is_root()) {
        return;
    }
    let place = Place::new("");
    for file in ["one.tar", "other.tar"] {
        let output = place.bakeoff(&["image", "export", "postgres", file]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), format!("bakeoff-postgres:{} {file}\n", env!("CARGO_PKG_VERSION")));
    }
    let folder = place.folder.path();
    done("cmp", &["one.tar", "other.tar"], folder);
    std::fs::create_dir(folder.join("layout")).unwrap();
    done("tar", &["--extract", "--file=one.tar", "--directory=layout"], folder);
    // It checks every digest.
    let image = format!("layout:bakeoff-postgres:{}", env!("CARGO_PKG_VERSION"));
    done("umoci", &["unpack", "--image", &image, "bundle"], folder);
    let config = folder.join("bundle/config.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
    assert_eq!(run["process"]["args"], serde_json::json!(["/usr/local/bin/bakeoff"]));
    run["process"]["args"] = serde_json::json!(["sh", "-c", "bakeoff --version && ls /usr/lib/postgresql"]);
    run["process"]["terminal"] = false.into();
    std::fs::write(&config, run.to_string()).unwrap();
    let name = format!("bakeoff-test-{}", std::process::id());
    let said = text(&done("runc", &["run", "--bundle", "bundle", &name], folder).stdout);
    assert!(said.starts_with("bakeoff ") && said.trim_end().ends_with("15"), "{said}");
}

#[test]
fn an_image_without_a_shell_is_not_exported() {
    let place = Place::new("");
    if missing("qemu", has_qemu()) {
        return;
    }
    let output = place.bakeoff(&["image", "export", "micro", "file.tar"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("has no shell"), "{}", text(&output.stderr));
}

const LAB: &str = "name = \"my_lab\"\nserver = \"tls://10.0.0.1:4222\"\ntoken_file = \"token\"\n[placement]\nkind = \"kubernetes\"\n\
                   nodes = 4\nimage = \"registry.lab/bakeoff-postgres:0.1.0\"\ncpus = 8\nmemory = \"16Gi\"\n";

#[test]
fn the_job_of_a_cluster_has_an_agent_on_each_node_and_no_secret() {
    let place = Place::new("");
    let token = place.folder.path().join("token");
    std::fs::write(&token, "do not tell\n").unwrap();
    std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::write(place.folder.path().join("lab.toml"), LAB).unwrap();
    let output = place.bakeoff(&["fleet", "manifest", "lab.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(!printed.contains("do not tell"));
    let job: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let spec = &job["spec"];
    assert_eq!((spec["completions"].as_u64(), spec["parallelism"].as_u64()), (Some(4), Some(4)));
    assert_eq!((spec["completionMode"].as_str(), spec["backoffLimit"].as_u64()), (Some("Indexed"), Some(0)));
    let container = &spec["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"]["limits"], container["resources"]["requests"]);
    assert_eq!(job["metadata"]["name"], "bakeoff-my-lab");
    let output = place.bakeoff(&["fleet", "up", "lab.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`bakeoff fleet manifest lab.toml | kubectl apply -f -`"));
    assert!(is_a_job(&printed), "{printed}");
    for (right, wrong) in [("completionMode", "completionMod"), ("\"parallelism\": 4", "\"parallelism\": \"four\"")] {
        assert!(printed.contains(right) && !is_a_job(&printed.replace(right, wrong)), "{wrong}");
    }
}

/// Whether the published schemas know every key, and the type of each value.
fn is_a_job(text: &str) -> bool {
    let known = serde_json::from_str::<Job>(text).map(|job| serde_json::to_value(job).unwrap());
    // Keys that are not known are left out while reading.
    known.is_ok_and(|known| known == serde_json::from_str::<serde_json::Value>(text).unwrap())
}
