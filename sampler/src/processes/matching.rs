//! Match expressions that name and user alone decide: who runs such a program is a member from then on.

/// An expression. All terms hold for a process that matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Globs of names, as fnmatch(3) has them.
    pub names: Vec<String>,
    /// Real user ids; of more than one none matches.
    pub users: Vec<u32>,
}

impl Match {
    /// True if a process of this name and user matches.
    pub fn holds(&self, name: &str, user: u32) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.users.iter().all(|&one| one == user)
            && self.names.iter().all(|glob| {
                let glob: Vec<char> = glob.chars().collect();
                matches(&glob, &name)
            })
    }
}

/// True if a name matches a glob with `*`, `?`, `[set]` and `[!set]`.
fn matches(glob: &[char], name: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    // The last star, and up to where it reaches.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if at < glob.len() && glob[at] == '*' {
            star = Some((at + 1, place));
            at += 1;
            continue;
        }
        if place == name.len() && at == glob.len() {
            return true;
        }
        let step = (place < name.len()).then(|| one(&glob[at..], name[place])).flatten();
        if let Some(length) = step {
            at += length;
            place += 1;
            continue;
        }
        match star {
            Some((after, from)) if from < name.len() => {
                (at, place) = (after, from + 1);
                star = Some((after, from + 1));
            }
            _ => return false,
        }
    }
}

/// Length of the first part of a glob if a character matches it; None if it does not.
fn one(glob: &[char], character: char) -> Option<usize> {
    match glob.first()? {
        '?' => Some(1),
        '[' => {
            let negated = glob.get(1) == Some(&'!');
            let first = 1 + usize::from(negated);
            // A bracket right at the beginning is one of the set.
            let close = glob.iter().skip(first + 1).position(|&one| one == ']');
            let Some(end) = close.map(|place| first + 1 + place) else {
                return (character == '[').then_some(1);
            };
            (in_set(&glob[first..end], character) != negated).then_some(end + 1)
        }
        plain => (*plain == character).then_some(1),
    }
}

fn in_set(set: &[char], character: char) -> bool {
    let mut at = 0;
    while at < set.len() {
        if at + 2 < set.len() && set[at + 1] == '-' {
            if (set[at]..=set[at + 2]).contains(&character) {
                return true;
            }
            at += 3;
        } else {
            if set[at] == character {
                return true;
            }
            at += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_those_of_fnmatch() {
        let holds = |glob: &str, name: &str| {
            Match { names: vec![glob.into()], users: vec![] }.holds(name, 0)
        };
        for (glob, name) in [
            ("postgres", "postgres"),
            ("*", ""),
            ("p*s", "postgres"),
            ("p*st*s", "postgres"),
            ("p?stgres", "postgres"),
            ("worker-[0-9]", "worker-7"),
            ("worker-[!a-z]", "worker-7"),
            ("a[]]b", "a]b"),
            ("a[b", "a[b"),
            ("*a*b", "xaxbab"),
        ] {
            assert!(holds(glob, name), "{glob} {name}");
        }
        for (glob, name) in [
            ("postgres", "postgre"),
            ("p*s", "postgresq"),
            ("worker-[0-9]", "worker-x"),
            ("?", ""),
            ("worker-[!0-9]", "worker-7"),
            ("Postgres", "postgres"),
        ] {
            assert!(!holds(glob, name), "{glob} {name}");
        }
    }

    #[test]
    fn all_terms_hold() {
        let one = Match { names: vec!["a*".into(), "*b".into()], users: vec![7] };
        assert!(one.holds("ab", 7) && !one.holds("ab", 8) && !one.holds("ac", 7));
    }
}
