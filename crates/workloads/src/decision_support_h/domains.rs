//! Values that parameters of questions are drawn from. They are those that the rows have.

/// Nations, each with its region's place among [`REGIONS`].
pub const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];

pub const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
pub const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"];
pub const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

/// The three words of a part's type.
pub const CLASSES: [&str; 6] = ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"];
pub const FINISHES: [&str; 5] = ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"];
pub const METALS: [&str; 5] = ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"];

/// The two words of a container.
pub const CONTAINER_SIZES: [&str; 5] = ["SM", "LG", "MED", "JUMBO", "WRAP"];
pub const CONTAINERS: [&str; 8] = ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"];

/// Words that a comment on an order may have, the first before the second.
pub const FIRST_WORDS: [&str; 4] = ["special", "pending", "unusual", "express"];
pub const SECOND_WORDS: [&str; 4] = ["packages", "requests", "accounts", "deposits"];

/// The words of a part's name.
pub fn colours() -> &'static [&'static str] {
    tpchgen::distribution::Distributions::static_default().part_colors().get_values()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tpchgen::generators::{LineItemGenerator, NationGenerator, PartGenerator, RegionGenerator};

    #[test]
    fn they_are_those_of_the_rows() {
        let nations: Vec<_> = NationGenerator::new(0.01, 1, 1)
            .iter()
            .map(|nation| (nation.n_name, usize::try_from(nation.n_regionkey).unwrap()))
            .collect();
        assert_eq!(nations, NATIONS);
        assert!(RegionGenerator::new(0.01, 1, 1).iter().map(|region| region.r_name).eq(REGIONS));
        let modes: BTreeSet<_> = LineItemGenerator::new(0.01, 1, 1).iter().map(|line| line.l_shipmode).collect();
        assert_eq!(modes, MODES.into());
        let (mut types, mut containers, mut colours_used) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for part in PartGenerator::new(0.1, 1, 1).iter() {
            types.insert(part.p_type.to_owned());
            containers.insert(part.p_container.to_owned());
            colours_used.extend(part.p_name.to_string().split(' ').map(str::to_owned));
        }
        let of_two = |first: &[&str], second: &[&str]| -> BTreeSet<String> {
            first.iter().flat_map(|first| second.iter().map(move |second| format!("{first} {second}"))).collect()
        };
        let finished = of_two(&CLASSES, &FINISHES);
        let finished: Vec<_> = finished.iter().map(String::as_str).collect();
        assert_eq!(types, of_two(&finished, &METALS));
        assert_eq!(containers, of_two(&CONTAINER_SIZES, &CONTAINERS));
        assert_eq!((colours().len(), colours_used), (92, colours().iter().map(|&colour| colour.to_owned()).collect()));
    }
}
