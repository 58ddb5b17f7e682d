//! The role of a thread by its name: the rule of shared/tidscope_wire/role.py, which the page has as well.

use std::collections::HashSet;

/// Role of a rule that makes each name a role.
const KEEP: &str = "*";

/// The general rule, and the rules given for a target.
#[derive(Clone, Debug, Default)]
pub struct RoleNames {
    words: HashSet<String>,
    rules: Vec<(Vec<char>, String)>,
}

impl RoleNames {
    /// Makes rules. `words` are lower-case words whose digits are part of the name; `rules` are patterns of
    /// whole names (`*` stands for any characters, `?` for one) and roles: the first match counts.
    pub fn new(
        words: impl IntoIterator<Item = String>,
        rules: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let rules = rules.into_iter().map(|(pattern, role)| (pattern.chars().collect(), role));
        Self { words: words.into_iter().collect(), rules: rules.collect() }
    }

    /// Role of a thread of this name.
    pub fn role_of(&self, name: &str) -> String {
        let signs: Vec<char> = name.chars().collect();
        for (pattern, role) in &self.rules {
            if matches(pattern, &signs) {
                return if role == KEEP { name.to_owned() } else { role.clone() };
            }
        }
        // A capital letter with one digit that begins a name of several words stays.
        let kind = signs.len() >= 4
            && signs[0].is_ascii_uppercase()
            && signs[1].is_ascii_digit()
            && signs[2] == ' '
            && signs[3].is_ascii_alphabetic();
        let mut at = if kind { 2 } else { 0 };
        let mut role: String = signs[..at].iter().collect();
        while at < signs.len() {
            let digits =
                |from: usize| signs[from..].iter().take_while(|c| c.is_ascii_digit()).count();
            if signs[at] == '#' && digits(at + 1) > 0 {
                role.push('#');
                at += 1 + digits(at + 1);
            } else if signs[at].is_ascii_alphanumeric() {
                let end = at + signs[at..].iter().take_while(|c| c.is_ascii_alphanumeric()).count();
                self.add_word(&signs[at..end], &mut role);
                at = end;
            } else {
                role.push(signs[at]);
                at += 1;
            }
        }
        role
    }

    fn add_word(&self, word: &[char], role: &mut String) {
        let lower: String = word.iter().map(char::to_ascii_lowercase).collect();
        if self.words.contains(&lower) {
            role.extend(word);
            return;
        }
        let mut in_digits = false;
        for &sign in word {
            if !sign.is_ascii_digit() {
                role.push(sign);
            } else if !in_digits {
                role.push('#');
            }
            in_digits = sign.is_ascii_digit();
        }
    }
}

/// True if a pattern matches a whole name: two pointers, and one step back to the last `*`.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut place, mut star) = (0, 0, None);
    while at < name.len() {
        match pattern.get(place) {
            Some('*') => {
                star = Some((place, at));
                place += 1;
            }
            Some(&sign) if sign == '?' || sign == name[at] => {
                place += 1;
                at += 1;
            }
            _ => match star {
                Some((begin, from)) => {
                    star = Some((begin, from + 1));
                    place = begin + 1;
                    at = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[place..].iter().all(|&sign| sign == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> String {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../");
        std::fs::read_to_string(format!("{root}{path}")).unwrap()
    }

    #[test]
    fn roles_are_those_of_the_contract() {
        let python = read("shared/tidscope_wire/role.py");
        let words = python.split("_WORDS = \"\"\"").nth(1).unwrap().split("\"\"\"").next().unwrap();
        let names = RoleNames::new(words.split_whitespace().map(str::to_owned), []);
        let cases: Vec<(String, String)> =
            serde_json::from_str(&read("tests/contract/roles.json")).unwrap();
        assert!(cases.len() > 30);
        for (name, role) in cases {
            assert_eq!(names.role_of(&name), role, "of {name:?}");
        }
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let rule = |pattern: &str, role: &str| (pattern.to_owned(), role.to_owned());
        let rules = [rule("io-?", "short"), rule("io-*", "io"), rule("k*x", KEEP)];
        let names = RoleNames::new([], rules);
        assert_eq!(names.role_of("io-1"), "short");
        assert_eq!(names.role_of("io-12"), "io");
        assert_eq!(names.role_of("k12x"), "k12x");
        assert_eq!(names.role_of("k12y"), "k#y");
    }
}
