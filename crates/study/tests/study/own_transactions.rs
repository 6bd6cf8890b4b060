//! A workload of the user's own files: their texts are in the plan, and mistakes in them are reported.

use crate::fixture::host;
use serde_json::json;
use std::rc::Rc;
use study::{Against, Catalogs, StudyFiles};

fn planned(workload: &str) -> Result<record::plan::Plan, String> {
    let read = |path: &str| match path {
        "sql/transfer.sql" => Ok("\\set id random(1, 9)\nUPDATE t SET n = n + 1 WHERE id = :id;".to_owned()),
        "read.sql" => Ok("SELECT 1;".to_owned()),
        "long.sql" => Ok("SELECT 1;\n".repeat(256)),
        "wrong.sql" => Ok("\\set id 1\nSELECT 1;\nSELECT :ib;".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let catalogs = Catalogs { files: StudyFiles(Rc::new(read)), ..Catalogs::standard() };
    let text = format!(
        "question = \"What does it cost?\"\n[machine]\nvcpus = 1\nmemory = \"1GiB\"\n[engine]\nkind = \"sqlite\"\n\
         [workload]\nkind = \"file\"\n{workload}\n[load]\nclients = 1\nwarmup = \"1s\"\nmeasure = \"1s\"\n\
         [[contender]]\nname = \"one\"\nplatform = {{ kind = \"native\" }}\n\
         [[contender]]\nname = \"two\"\nplatform = {{ kind = \"native\" }}\n"
    );
    let plan = study::plan("x", &text, Against::Baseline, &catalogs, &host());
    plan.map_err(|problems| study::render(&problems, "x.toml"))
}

#[test]
fn texts_of_files_are_in_the_plan() {
    let plan = planned("scripts = [\"sql/transfer.sql@2\", \"read.sql\"]\nchecks = \"read.sql\"").unwrap();
    let expected = json!({
        "kind": "file",
        "scripts": [
            { "name": "transfer.sql", "weight": 2, "text": "\\set id random(1, 9)\nUPDATE t SET n = n + 1 WHERE id = :id;" },
            { "name": "read.sql", "weight": 1, "text": "SELECT 1;" },
        ],
        "checks": [{ "name": "read.sql", "text": "SELECT 1;" }],
        "statement_latencies": false,
    });
    assert_eq!(plan.cells[0].settings.tables()["workload"], expected);
    assert!(plan.workloads[0].notice.starts_with("These are your own statements."));
}

#[test]
fn what_is_wrong_with_files_is_told_with_their_lines() {
    for (workload, told) in [
        (
            "scripts = \"wrong.sql\"",
            "wrong.sql, line 3: unknown variable ib; expected client_id, id; did you mean \"id\"?",
        ),
        ("scripts = [\"gone.sql\"]", "a file that can be read (gone.sql: no such file)"),
        ("scripts = [\"read.sql\", \"read.sql\"]", "read.sql, line 1: another script has this name"),
        (
            "scripts = [\"long.sql\"]\nstatement_latencies = true",
            "workload.statement_latencies: 257 scripts and statements; expected at most 256 where statements are timed by themselves",
        ),
        ("setup = \"read.sql\"", "workload.scripts: missing; expected SQL files with their weights"),
    ] {
        let problems = planned(workload).unwrap_err();
        assert!(problems.contains(told), "{problems}");
    }
}
