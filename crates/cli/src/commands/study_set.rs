//! `--set KEY=VALUE`: keys of a study that are changed for one run. The changed text is what the run keeps, so its record says
//! what was measured.

use toml_edit::{DocumentMut, Item, TableLike, Value};

const EXAMPLE: &str = "write a key of the study and its value, as in load.clients=8";

/// The study with these keys set. A text that is no TOML stays as it is: reading it as a study names its errors.
pub fn with(text: String, settings: &[String]) -> Result<String, String> {
    if settings.is_empty() {
        return Ok(text);
    }
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(text) };
    for setting in settings {
        let (path, value) = setting.split_once('=').ok_or_else(|| format!("--set {setting}: {EXAMPLE}"))?;
        set(&mut document, path.trim(), value_of(value.trim())).map_err(|why| format!("--set {setting}: {why}"))?;
    }
    Ok(document.to_string())
}

/// A value as a study writes it. Anything else is a text, so that 5s needs no quotes.
fn value_of(text: &str) -> Value {
    text.parse().unwrap_or_else(|_| text.into())
}

/// True if the study itself has this value already.
pub fn is_in(text: &str, setting: &str) -> bool {
    let Ok(document) = text.parse::<DocumentMut>() else { return false };
    let Some((path, value)) = setting.split_once('=') else { return false };
    let mut found = Some(document.as_item());
    for name in path.split('.') {
        found = found.and_then(|item| item.get(name.trim()));
    }
    let plain = |value: &Value| value.clone().decorated("", "").to_string();
    found.and_then(Item::as_value).is_some_and(|found| plain(found) == plain(&value_of(value.trim())))
}

fn set(document: &mut DocumentMut, path: &str, value: Value) -> Result<(), String> {
    let mut names = path.split('.').map(str::trim);
    let key = names.next_back().filter(|key| !key.is_empty()).ok_or(EXAMPLE)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in names {
        let inner = table.entry(name).or_insert_with(toml_edit::table);
        table =
            inner.as_table_like_mut().ok_or_else(|| format!("{name} is no table of keys; edit the study for this"))?;
    }
    table.insert(key, Item::Value(value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"blocks = 5 # few

[machine]
disk = { size = "4GiB" }

[load]
warmup = "3s"
arrivals = "100/s"
sessions = 8

[engine]
kind = "postgres"
shared_buffers = "1GiB"

[[contender]]
name = "a"
"#;

    fn changed(settings: &[&str]) -> Result<String, String> {
        with(STUDY.to_owned(), &settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn keys_are_set_in_tables_of_each_form_and_texts_need_no_quotes() {
        let text = changed(&["blocks=7", "machine.disk.size=8GiB", "load . warmup=1s", "workload.kind=slob"]).unwrap();
        insta::assert_snapshot!(text, @r#"
        blocks = 7

        [machine]
        disk = { size = "8GiB" }

        [load]
        warmup = "1s"
        arrivals = "100/s"
        sessions = 8

        [engine]
        kind = "postgres"
        shared_buffers = "1GiB"

        [[contender]]
        name = "a"

        [workload]
        kind = "slob"
        "#);
        assert_eq!(changed(&[]).unwrap(), STUDY);
        assert_eq!(with("no = = toml".to_owned(), &["blocks=7".to_owned()]).unwrap(), "no = = toml");
    }

    #[test]
    fn a_value_that_the_study_has_is_known() {
        assert!(
            is_in(STUDY, "blocks=5") && is_in(STUDY, "load . warmup = 3s") && is_in(STUDY, "machine.disk.size=4GiB")
        );
        assert!(!is_in(STUDY, "blocks=6") && !is_in(STUDY, "load.clients=4") && !is_in(STUDY, "blocks"));
    }

    #[test]
    fn what_cannot_be_set_is_an_error_that_names_it() {
        let told = |setting: &str| changed(&[setting]).unwrap_err();
        assert_eq!(told("blocks"), "--set blocks: write a key of the study and its value, as in load.clients=8");
        assert!(told("contender.name=b").contains("contender is no table of keys"));
        assert!(told("=8").contains("as in load.clients=8"));
    }
}
