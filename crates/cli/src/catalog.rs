//! What a study can name, and the parts of a study file, with the keys of each.

use settings::Key;

/// One entry of any catalog.
pub struct Entry {
    pub catalog: &'static str,
    pub kind: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
}

/// All kinds that can be asked for.
pub fn names() -> Vec<&'static str> {
    entries().into_iter().map(|entry| entry.kind).collect()
}

/// The keys of one entry.
pub fn keys(kind: &str) -> Option<&'static [Key]> {
    entries().into_iter().find(|entry| entry.kind == kind).map(|entry| entry.keys)
}

/// All entries, catalog by catalog.
pub fn entries() -> Vec<Entry> {
    let study = [
        Entry { catalog: "study", kind: "study", meaning: "top of a study file", keys: study::STUDY },
        Entry { catalog: "study", kind: "machine", meaning: "the shape every contender gets", keys: study::MACHINE },
        Entry {
            catalog: "study",
            kind: "engine",
            meaning: "what the table of every engine holds, too",
            keys: study::ENGINE,
        },
        Entry { catalog: "study", kind: "load", meaning: "who works on the database, and how long", keys: study::LOAD },
        part("disk", "table in [machine]: disk = { size = \"4GiB\" }", disk()),
        part(
            "contender",
            "table [[contender]]: name, platform, baseline = true for one, and set = { \"KEY\" = value }",
            &[],
        ),
        part("scenario", "table [[scenario]]: name and set = { \"KEY\" = value }; every contender runs in each", &[]),
        part("sweep", "table [sweep]: \"KEY\" = [values]; every contender runs with each value", &[]),
        part(
            "ablation",
            "table [ablation]: of = CONTENDER, with [[ablation.change]]: name and set = { \"KEY\" = value }",
            study::ABLATION,
        ),
        part("accept", "table [accept]: CODE = \"reason\" accepts a warning (bakeoff explain CODE)", &[]),
    ];
    let study::Catalogs { platforms, engines, workloads, .. } = study::Catalogs::standard();
    let of =
        |catalog| move |study::Kind { kind, meaning, keys, .. }: study::Kind| Entry { catalog, kind, meaning, keys };
    let platforms = platforms.into_iter().map(of("platform"));
    let (engines, workloads) = (engines.into_iter().map(of("engine")), workloads.into_iter().map(of("workload")));
    platforms.chain(engines).chain(workloads).chain(study).collect()
}

/// A part of a study file that its author may look up.
const fn part(kind: &'static str, meaning: &'static str, keys: &'static [Key]) -> Entry {
    Entry { catalog: "study", kind, meaning, keys }
}

/// The keys of the table `machine.disk`.
fn disk() -> &'static [Key] {
    let holds = study::MACHINE.iter().find(|key| key.name == "disk").map(|key| key.holds);
    if let Some(settings::Holds::Table(inner)) = holds { inner } else { &[] }
}
