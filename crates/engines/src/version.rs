//! Versions of servers, as a study asks for them and as programs print them. Only their numbers count.

use std::fmt;

/// The numbers of a version, as in "17.12". Later versions are greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerVersion(Vec<u32>);

impl ServerVersion {
    /// A version as a study writes it; `None` if it is not numbers with dots between them.
    pub fn asked(text: &str) -> Option<Self> {
        text.split('.').map(|number| number.parse().ok()).collect::<Option<_>>().map(Self)
    }

    /// The first version in what a program prints: 17.12 of "postgres (PostgreSQL) 17.12 (Debian 17.12-0+deb13u1)".
    pub fn printed(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        Self::asked(word[..end].trim_end_matches('.'))
    }

    pub fn major(&self) -> u32 {
        self.0.first().copied().unwrap_or_default()
    }

    /// Whether this is the asked version or one of its minor ones: 17.12 is a 17.
    pub fn is_of(&self, asked: &Self) -> bool {
        self.0.starts_with(&asked.0)
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        formatter.write_str(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_print_versions_in_their_own_ways() {
        let printed = |text: &str| ServerVersion::printed(text).map(|version| version.to_string());
        for (text, version) in [
            ("postgres (PostgreSQL) 17.12 (Debian 17.12-0+deb13u1)\n", "17.12"),
            ("postgres (PostgreSQL) 18beta1\n", "18"),
            ("/usr/sbin/mariadbd  Ver 11.8.9-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64\n", "11.8.9"),
            ("/usr/sbin/mysqld  Ver 9.7.4 for Linux on x86_64 (Debian)\n", "9.7.4"),
        ] {
            assert_eq!(printed(text).as_deref(), Some(version), "{text}");
        }
        assert_eq!(printed("usage: postgres [OPTION]...\n"), None);
    }

    #[test]
    fn versions_compare_by_number_and_a_major_one_holds_its_minor_ones() {
        let version = |text: &str| ServerVersion::asked(text).unwrap();
        assert!(
            version("9.6") < version("15") && version("10.11") < version("11.4") && version("11") < version("11.4")
        );
        assert!(version("11.8.9").is_of(&version("11")) && version("11.8.9").is_of(&version("11.8")));
        assert!(!version("11.8.9").is_of(&version("11.9")) && !version("17").is_of(&version("17.2")));
        for wrong in ["", "17.", "17beta1", "latest", " 17"] {
            assert_eq!(ServerVersion::asked(wrong), None, "{wrong:?}");
        }
    }
}
