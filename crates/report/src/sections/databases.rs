//! Effective database settings side by side, as read back from the running servers.

use super::side_by_side::SideBySide;
use super::{heading, place};
use crate::document::Block;
use crate::table::id;
use analysis::settings::SettingsComparison;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = vec![heading("Database settings")];
    if analysis.settings.is_empty() {
        found.push(Block::Paragraph("No server was started.".to_owned()));
    }
    for comparison in &analysis.settings {
        found.extend(place(&comparison.coordinates));
        found.push(Block::Paragraph(servers(comparison)));
        let id = id("database-settings", &comparison.coordinates);
        let rows = comparison.settings.iter().map(|row| (row.name.clone(), row.values.clone())).collect();
        found.extend(SideBySide { titles: comparison.contenders.clone(), rows }.blocks(&id, "effective settings"));
    }
    found
}

fn servers(comparison: &SettingsComparison) -> String {
    if let [first, others @ ..] = &comparison.servers[..]
        && others.iter().all(|other| other == first)
    {
        return format!("All contenders: {first}. Read back from the running server.");
    }
    let pairs = comparison.contenders.iter().zip(&comparison.servers);
    let texts: Vec<String> = pairs.map(|(contender, server)| format!("{contender}: {server}")).collect();
    format!("{}. Read back from the running server.", texts.join("; "))
}
