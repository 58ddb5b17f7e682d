//! Messages of the data connection: those of shared/schemas/collector.schema.json. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::encode::json::{number, string};

/// The backend's last frame of each target.
pub type Reached = BTreeMap<String, u64>;

/// A message of the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// `CollectorWelcome`: answers the hello, with the frames that the backend has.
    Welcome {
        /// Version of the protocol.
        protocol: u64,
        /// Last frame of each target; replay starts behind it.
        resume: Reached,
    },
    /// `FramesReceived`: the backend has all frames up to these.
    Received(Reached),
    /// A message for somebody else.
    Other,
}

/// Reads a message of the backend.
///
/// # Errors
/// Tells in what it does not fit its schema.
pub fn parse(text: &str) -> Result<Message, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match value.get("type").and_then(Value::as_str) {
        Some("collector_welcome") => {
            let protocol = value.get("protocol").and_then(Value::as_u64);
            let protocol = protocol.ok_or("a welcome without a version of the protocol")?;
            Ok(Message::Welcome { protocol, resume: reached(value.get("resume"))? })
        }
        Some("frames_received") => Ok(Message::Received(reached(value.get("targets"))?)),
        Some(_) => Ok(Message::Other),
        None => Err("a message without a type".into()),
    }
}

fn reached(value: Option<&Value>) -> Result<Reached, String> {
    let targets = value.and_then(Value::as_object).ok_or("a message without targets")?;
    let number = |(target, seq): (&String, &Value)| {
        let seq = seq.as_u64().ok_or_else(|| format!("{seq} is not the number of a frame"))?;
        Ok((target.clone(), seq))
    };
    targets.iter().map(number).collect()
}

/// Makes `FramesLost`: a backend will not get the frames `first` to `last` of a target.
pub fn frames_lost(target: &str, first: u64, last: u64, reason: &str) -> String {
    let mut out = b"{\"type\":\"frames_lost\",\"target\":".to_vec();
    string(&mut out, target);
    out.extend_from_slice(b",\"from_seq\":");
    number(&mut out, first);
    out.extend_from_slice(b",\"to_seq\":");
    number(&mut out, last);
    out.extend_from_slice(b",\"reason\":");
    string(&mut out, reason);
    out.push(b'}');
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_of_the_backend_are_read() {
        let welcome = r#"{"type":"collector_welcome","protocol":1,"resume":{"t-1-0000000a":7}}"#;
        let reached = Reached::from([("t-1-0000000a".to_owned(), 7)]);
        let expected = Message::Welcome { protocol: 1, resume: reached.clone() };
        assert_eq!(parse(welcome), Ok(expected));
        let received = r#"{"type":"frames_received","targets":{"t-1-0000000a":7}}"#;
        assert_eq!(parse(received), Ok(Message::Received(reached)));
        assert_eq!(parse(r#"{"type":"attach_command"}"#), Ok(Message::Other));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"type":"collector_welcome","resume":{}}"#,
            r#"{"type":"collector_welcome","protocol":1}"#,
            r#"{"type":"frames_received","targets":{"a":-1}}"#,
            r#"{"type":"frames_received","targets":{"a":1.5}}"#,
            r#"{"type":"frames_received","targets":[1]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_loss_is_reported() {
        assert_eq!(
            frames_lost("t-1-0000000a", 2, 5, "full"),
            r#"{"type":"frames_lost","target":"t-1-0000000a","from_seq":2,"to_seq":5,"reason":"full"}"#
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = parse(&text);
        }
    }
}
