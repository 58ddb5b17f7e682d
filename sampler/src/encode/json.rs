//! JSON as the generated models write it: without blanks, members in the order of the schema.

use std::io::Write;

use crate::columns::{Mask, Totals};
use crate::fields::columns_of;

/// JSON text of an object that another part of the program made, checked once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment(String);

impl Fragment {
    /// Takes the text of an object.
    ///
    /// # Errors
    /// Tells why the text is not an object.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        match serde_json::from_str(&text) {
            Ok(serde_json::Value::Object(_)) => Ok(Self(text)),
            Ok(_) => Err("JSON, but not an object".into()),
            Err(error) => Err(format!("not JSON: {error}")),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Names of columns as the keys of objects: with quotes and a colon.
#[derive(Clone, Debug)]
pub struct Keys(Vec<Vec<u8>>);

impl Keys {
    /// Prepares names.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self(
            names
                .map(|name| {
                    let mut key = Vec::new();
                    string(&mut key, name);
                    key.push(b':');
                    key
                })
                .collect(),
        )
    }

    /// Writes an object of column names and values.
    pub fn totals(&self, out: &mut Vec<u8>, totals: &Totals) {
        out.push(b'{');
        let mut comma = false;
        for column in columns_of(totals.given) {
            let (Some(key), Some(&value)) = (self.0.get(column), totals.values.get(column)) else {
                break;
            };
            if std::mem::replace(&mut comma, true) {
                out.push(b',');
            }
            out.extend_from_slice(key);
            number(out, value);
        }
        out.push(b'}');
    }

    /// Writes a list of column names.
    pub fn list(&self, out: &mut Vec<u8>, columns: Mask) {
        let known = columns_of(columns).filter_map(|column| self.0.get(column));
        list(out, known, |out, key| out.extend_from_slice(&key[..key.len() - 1]));
    }
}

/// Writes a list.
pub fn list<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    let mut comma = false;
    for item in items {
        if std::mem::replace(&mut comma, true) {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// Writes a string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        write_with(out, |out| serde_json::to_writer(out, text));
    }
}

/// Writes a string, or null.
pub fn string_or_null(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => string(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writes a number with up to 20 digits.
pub fn number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes a number with a sign.
pub fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    number(out, value.unsigned_abs());
}

/// Writes a number, or null.
pub fn number_or_null(out: &mut Vec<u8>, value: Option<u64>) {
    match value {
        Some(value) => number(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writes the shortest number that is read as this one; null for those that JSON does not have.
pub fn float(out: &mut Vec<u8>, value: f64) {
    write_with(out, |out| serde_json::to_writer(out, &value));
}

/// Writes a float, or null.
pub fn float_or_null(out: &mut Vec<u8>, value: Option<f64>) {
    float(out, value.unwrap_or(f64::NAN));
}

/// Writes true or false.
pub fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Writes to memory, which does not fail.
fn write_with(out: &mut Vec<u8>, write: impl FnOnce(&mut dyn Write) -> serde_json::Result<()>) {
    let before = out.len();
    if write(out).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_the_models_write_them() {
        assert_eq!(text(|out| float(out, 10.0)), "10.0");
        assert_eq!(text(|out| float(out, 1e-7)), "1e-7");
        assert_eq!(text(|out| float(out, 123_456_789_012_345_680_000.0)), "1.2345678901234568e+20");
        assert_eq!(text(|out| float_or_null(out, None)), "null");
        assert_eq!(
            text(|out| string(out, "a\"b\\\n\u{1}\u{7f}é")),
            "\"a\\\"b\\\\\\n\\u0001\u{7f}é\""
        );
        assert_eq!(text(|out| signed(out, i64::MIN)), "-9223372036854775808");
        assert_eq!(text(|out| number(out, u64::MAX)), "18446744073709551615");
    }

    #[test]
    fn totals_name_the_columns_that_have_a_value() {
        let keys = Keys::new(["a", "b\"", "c"].into_iter());
        let totals = Totals { values: vec![1, 2, 3], given: 0b110 };
        assert_eq!(text(|out| keys.totals(out, &totals)), r#"{"b\"":2,"c":3}"#);
        assert_eq!(text(|out| keys.list(out, 0b101)), r#"["a","c"]"#);
        assert_eq!(text(|out| keys.totals(out, &Totals::default())), "{}");
    }

    #[test]
    fn a_fragment_is_an_object() {
        assert_eq!(Fragment::new(r#"{"a":1}"#).unwrap().text(), r#"{"a":1}"#);
        assert!(Fragment::new("[1]").is_err());
        assert!(Fragment::new("{} {}").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_the_same(name: String, value: u64, other: i64) {
            let written = text(|out| list(out, [0], |out, _| {
                string(out, &name);
                out.push(b',');
                number(out, value);
                out.push(b',');
                signed(out, other);
            }));
            let read: (String, u64, i64) = {
                let value: serde_json::Value = serde_json::from_str(&written).unwrap();
                (value[0].as_str().unwrap().into(), value[1].as_u64().unwrap(),
                    value[2].as_i64().unwrap())
            };
            prop_assert_eq!(read, (name, value, other));
        }
    }
}
