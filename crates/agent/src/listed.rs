//! A list, in a database that belongs to the user, of the tables that bakeoff has made there and will drop. It is written before they
//! are made. So what a killed run has left can be told from the user's own tables.

use crate::loading::LoadError;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use workloads::dataset::Dataset;

const LIST: &str = "bakeoff_tables";

pub(crate) fn list(dataset: &dyn Dataset, admin: &mut dyn Admin) -> Result<(), LoadError> {
    let names: Vec<String> =
        (0..).zip(dataset.tables()).map(|(place, table): (u32, _)| format!("({place}, '{}')", table.name)).collect();
    let script = format!(
        "CREATE TABLE {LIST} (place INTEGER NOT NULL, name VARCHAR(100) NOT NULL);\n\
         INSERT INTO {LIST} (place, name) VALUES {};\n",
        names.join(", ")
    );
    admin.script(&script).map_err(|source| LoadError::Script { doing: "listing the tables to be made", source })
}

/// Returns the names of the tables that it dropped.
pub(crate) fn drop(admin: &mut dyn Admin) -> Result<Vec<String>, LoadError> {
    dropped(admin).map_err(|source| LoadError::Script { doing: "dropping the tables that bakeoff made", source })
}

fn dropped(admin: &mut dyn Admin) -> Result<Vec<String>, SessionError> {
    if !admin.has_table(LIST)? {
        return Ok(Vec::new());
    }
    let mut listed = Vec::new();
    // A table may refer to those before it.
    admin.ask(&format!("SELECT name FROM {LIST} ORDER BY place DESC"), Limit::QUESTION, &mut |rows, row| {
        listed.push(rows.text(row, 0).unwrap_or_default().to_owned());
    })?;
    let mut present = Vec::new();
    for name in listed {
        if is_plain(&name) && admin.has_table(&name)? {
            present.push(name);
        }
    }
    // The list last, so that it outlives what is on it.
    for name in present.iter().map(String::as_str).chain([LIST]) {
        admin.script(&format!("DROP TABLE {name}"))?;
    }
    Ok(present)
}

/// Whether it is a name that needs no quotes. The list is the user's to write, too.
fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}
