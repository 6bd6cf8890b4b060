//! Reads `~/.my.cnf`: groups of options. A later line overrides an earlier one, whatever their groups.
//!
//! `!include` and `!includedir` are not followed, but reported so that the user can be warned.

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: Vec<(String, String)>,
    pub includes: bool,
}

impl Options {
    /// Reads the options of these groups.
    pub fn read(text: &str, groups: &[&str]) -> Self {
        let mut options = Self::default();
        let mut wanted = false;
        for line in text.lines().map(str::trim) {
            if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                wanted = groups.contains(&group.0.trim());
            } else if line.starts_with('!') {
                options.includes = true;
            } else if wanted && !line.is_empty() && !line.starts_with(['#', ';']) {
                let (name, value) = line.split_once('=').unwrap_or((line, ""));
                // Dashes and underscores are equal in a name.
                options.values.push((name.trim().replace('_', "-"), value_of(value.trim())));
            }
        }
        options
    }

    pub fn get(&self, name: &str) -> Option<String> {
        self.values.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// The value without quotes and without a trailing comment, and with escapes replaced.
fn value_of(written: &str) -> String {
    let quote = written.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let quoted = quote.and_then(|quote| written[1..].rsplit_once(quote)).map(|(inner, _)| inner);
    let plain = quoted.unwrap_or_else(|| written.split(" #").next().unwrap_or_default().trim_end());
    let mut value = String::with_capacity(plain.len());
    let mut letters = plain.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('b') => value.push('\u{8}'),
            Some('s') => value.push(' '),
            Some(same @ ('\\' | '"' | '\'')) => value.push(same),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
user = outside
[client]
user=bob
password = "with # and \\ and \"" # a comment
ssl_ca = /etc/ca.pem
# port = 1
;port = 2
port=3307 # three
[mysqld]
user = mysql
[bakeoff]
user = carol
skip-ssl
"#;

    #[test]
    fn the_last_line_of_the_wanted_groups_is_taken() {
        let options = Options::read(FILE, &["client", "bakeoff"]);
        assert_eq!(options.get("user").as_deref(), Some("carol"));
        assert_eq!(options.get("password").as_deref(), Some("with # and \\ and \""));
        assert_eq!(options.get("ssl-ca").as_deref(), Some("/etc/ca.pem"));
        assert_eq!(options.get("port").as_deref(), Some("3307"));
        assert_eq!(options.get("skip-ssl").as_deref(), Some(""));
        assert_eq!(options.get("socket"), None);
        assert!(!options.includes);
        assert_eq!(Options::read(FILE, &["client"]).get("user").as_deref(), Some("bob"));
    }

    #[test]
    fn odd_files_do_no_harm() {
        let options = Options::read("[client\n[client]\n!includedir /etc\n=x\npassword='\nuser=\\", &["client"]);
        assert!(options.includes);
        assert_eq!(options.get("password").as_deref(), Some("'"));
        assert_eq!(options.get("user").as_deref(), Some("\\"));
    }
}
