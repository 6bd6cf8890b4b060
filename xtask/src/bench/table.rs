//! The tables of a workload, and their rows in files as written by `bakeoff rows`.

use super::RaceGround;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchTable {
    pub name: String,
    pub rows: u64,
    pub columns: Vec<String>,
}

/// A workload at one size.
#[derive(Debug, Clone)]
pub struct SizedWorkload {
    pub workload: &'static str,
    /// What sets its size, as `--set` takes it.
    pub size: String,
}

impl SizedWorkload {
    pub fn order_entry(warehouses: u32) -> Self {
        Self { workload: "order-entry", size: format!("warehouses={warehouses}") }
    }

    fn rows_command(&self, ground: &RaceGround) -> Command {
        let mut command = Command::new(&ground.bakeoff);
        command.args(["rows", self.workload, "--set", &self.size]);
        command
    }
}

/// Lists the tables in their order.
pub fn list(ground: &RaceGround, source: &SizedWorkload) -> anyhow::Result<Vec<BenchTable>> {
    let output = source.rows_command(ground).output().context("starting bakeoff rows")?;
    ensure!(output.status.success(), "bakeoff rows: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("reading the list of tables")?;
    text.lines().map(|line| parse(line).with_context(|| format!("not a table: {line:?}"))).collect()
}

/// Parses a line such as "warehouse   10 rows  `w_id` `w_name` …".
fn parse(line: &str) -> Option<BenchTable> {
    let (head, columns) = line.split_once(" rows ")?;
    let (name, rows) = head.trim().split_once(' ')?;
    Some(BenchTable {
        name: name.to_owned(),
        rows: rows.trim().parse().ok()?,
        columns: columns.split_whitespace().map(ToOwned::to_owned).collect(),
    })
}

/// Writes part `index` of `count` of a table's rows to a file in `folder`.
pub fn write(
    ground: &RaceGround,
    source: &SizedWorkload,
    table: &BenchTable,
    (index, count): (u32, u32),
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{}-{index}.rows", table.name));
    let file = std::fs::File::create(&path).with_context(|| format!("making {}", path.display()))?;
    generate(ground, source, table, (index, count), file.into())?;
    Ok(path)
}

/// Writes part `index` of `count` of a table's rows to `out`.
pub fn generate(
    ground: &RaceGround,
    source: &SizedWorkload,
    table: &BenchTable,
    (index, count): (u32, u32),
    out: Stdio,
) -> anyhow::Result<()> {
    let mut command = source.rows_command(ground);
    command.arg(&table.name).args(["--part", &format!("{}/{count}", index + 1)]).stdout(out);
    ensure!(command.status().context("starting bakeoff rows")?.success(), "bakeoff rows {} failed", table.name);
    Ok(())
}

/// A psql line that copies a file into its table.
pub fn copy_line(table: &BenchTable, file: &Path) -> String {
    format!("\\copy {} ({}) from '{}'\n", table.name, table.columns.join(", "), file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_a_table() {
        let table = parse("order_line       300000 rows  ol_o_id ol_d_id").unwrap();
        assert_eq!((table.name.as_str(), table.rows), ("order_line", 300_000));
        assert_eq!(table.columns, ["ol_o_id", "ol_d_id"]);
        assert_eq!(parse("no table"), None);
    }

    #[test]
    fn a_file_is_copied_by_column_names() {
        let table = parse("item 100 rows  i_id i_name").unwrap();
        assert_eq!(copy_line(&table, Path::new("/a/item.rows")), "\\copy item (i_id, i_name) from '/a/item.rows'\n");
    }
}
