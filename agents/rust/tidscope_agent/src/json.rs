//! Strict JSON reader for the agent protocol; numbers keep their text.

const DEEPEST: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// A number, as its text.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// Members in document order; the last of duplicate names counts.
    Object(Vec<(String, Json)>),
}

/// Error: the text is not JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct NotJson;

impl Json {
    pub fn parse(text: &str) -> Result<Json, NotJson> {
        let mut parser = Parser { text: text.as_bytes(), at: 0 };
        let value = parser.value(0)?;
        parser.blanks();
        if parser.at == text.len() {
            Ok(value)
        } else {
            Err(NotJson)
        }
    }

    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => {
                members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Return an integer written without point or exponent, within bounds.
    pub fn integer(&self, least: u64, greatest: u64) -> Option<u64> {
        match self {
            Json::Number(digits) => {
                digits.parse().ok().filter(|value| (least..=greatest).contains(value))
            }
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

/// Format a string as JSON.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            ' '..='~' => quoted.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    quoted += &format!("\\u{:04x}", unit);
                }
            }
        }
    }
    quoted + "\""
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, NotJson> {
        self.blanks();
        if depth > DEEPEST {
            return Err(NotJson);
        }
        match self.text.get(self.at).ok_or(NotJson)? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Json::Text),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => self.digits(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, NotJson> {
        let mut members = Vec::new();
        self.at += 1;
        if self.next(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            let name = self.string()?;
            self.wanted(b':')?;
            members.push((name, self.value(depth + 1)?));
            if !self.next(b',') {
                self.wanted(b'}')?;
                return Ok(Json::Object(members));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, NotJson> {
        let mut items = Vec::new();
        self.at += 1;
        if self.next(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if !self.next(b',') {
                self.wanted(b']')?;
                return Ok(Json::List(items));
            }
        }
    }

    fn string(&mut self) -> Result<String, NotJson> {
        if self.take()? != b'"' {
            return Err(NotJson);
        }
        let mut units: Vec<u8> = Vec::new();
        loop {
            match self.take()? {
                b'"' => return String::from_utf8(units).map_err(|_| NotJson),
                b'\\' => {
                    let letter = self.escaped()?;
                    units.extend(letter.encode_utf8(&mut [0; 4]).bytes());
                }
                byte if byte < b' ' => return Err(NotJson),
                byte => units.push(byte),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, NotJson> {
        Ok(match self.take()? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex()?;
                if !(0xd800..0xdc00).contains(&unit) {
                    return Ok(char::from_u32(unit).unwrap_or('\u{fffd}'));
                }
                // A high surrogate; without a low surrogate after it the text is malformed.
                if self.text.get(self.at..self.at + 2) != Some(&b"\\u"[..]) {
                    return Ok('\u{fffd}');
                }
                self.at += 2;
                let low = self.hex()?.wrapping_sub(0xdc00);
                char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low & 0x3ff))
                    .filter(|_| low < 0x400)
                    .unwrap_or('\u{fffd}')
            }
            _ => return Err(NotJson),
        })
    }

    fn hex(&mut self) -> Result<u32, NotJson> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = char::from(self.take()?).to_digit(16).ok_or(NotJson)?;
            value = value * 16 + digit;
        }
        Ok(value)
    }

    fn digits(&mut self) -> Result<Json, NotJson> {
        let begin = self.at;
        self.next_byte(b'-');
        if !self.next_byte(b'0') {
            self.some_digits()?;
        }
        if self.next_byte(b'.') {
            self.some_digits()?;
        }
        if self.next_byte(b'e') || self.next_byte(b'E') {
            let _ = self.next_byte(b'+') || self.next_byte(b'-');
            self.some_digits()?;
        }
        Ok(Json::Number(String::from_utf8_lossy(&self.text[begin..self.at]).into_owned()))
    }

    fn some_digits(&mut self) -> Result<(), NotJson> {
        let begin = self.at;
        while self.text.get(self.at).map_or(false, u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at > begin {
            Ok(())
        } else {
            Err(NotJson)
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, NotJson> {
        if self.text[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(NotJson)
        }
    }

    fn wanted(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.next(byte) {
            Ok(())
        } else {
            Err(NotJson)
        }
    }

    fn next(&mut self, byte: u8) -> bool {
        self.blanks();
        self.next_byte(byte)
    }

    fn next_byte(&mut self, byte: u8) -> bool {
        let there = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    fn take(&mut self) -> Result<u8, NotJson> {
        let byte = *self.text.get(self.at).ok_or(NotJson)?;
        self.at += 1;
        Ok(byte)
    }

    fn blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quote, Json, NotJson};

    #[test]
    fn strings_come_back() {
        for text in ["", "a\"b\\c", "\u{1}\n", "ä€𝄞", "/"] {
            assert_eq!(Json::parse(&quote(text)), Ok(Json::Text(text.to_string())));
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "[1,]", "{\"a\":1,}", "01", "NaN", "1 2", "\"\t\"", "+1", ".5", "tru"] {
            assert_eq!(Json::parse(text), Err(NotJson), "{}", text);
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(Json::parse(&("[".repeat(2000) + &"]".repeat(2000))), Err(NotJson));
    }
}
