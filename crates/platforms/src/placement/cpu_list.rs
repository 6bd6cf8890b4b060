//! Lists of CPUs as the kernel and `taskset` write them ("0-3,8").

use rustix::thread::CpuSet;

/// The CPUs of one list, in the written order.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number < CpuSet::MAX_CPU);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err(format!("\"{}\" is no list of CPUs such as \"0-3,8\"", text.trim().escape_debug())),
        }
    }
    Ok(cpus)
}

/// Parses lists separated by semicolons: "0-3;4-7".
pub fn parse_all(text: &str) -> Result<Vec<Vec<usize>>, String> {
    text.split(';').map(parse).collect()
}

/// CPUs for people: consecutive CPUs become a range.
pub fn written(cpus: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => runs.push((*cpu, *cpu)),
        }
    }
    let words =
        runs.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_the_order_in_which_they_are_written() {
        assert_eq!(parse("0-3,8\n"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("6, 4-5"), Ok(vec![6, 4, 5]));
        assert_eq!(parse_all("0-1; 3;2"), Ok(vec![vec![0, 1], vec![3], vec![2]]));
        for text in ["", "a", "3-1", "1,", "0-", "-1", "0-99999", "18446744073709551616"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_all("0;").is_err());
    }

    #[test]
    fn neighbours_are_drawn_together() {
        assert_eq!(written(&[0, 1, 2, 5, 8, 7]), "0-2,5,8,7");
        assert_eq!(written(&[]), "");
    }
}
