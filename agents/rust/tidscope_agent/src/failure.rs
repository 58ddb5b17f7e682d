//! Refused calls, by the codes of docs/agents.md.

use crate::json::quote;

pub const PARSE: i32 = -32700;
pub const INVALID: i32 = -32600;
pub const METHOD: i32 = -32601;
pub const PARAMS: i32 = -32602;
pub const BOUNDS: i32 = -32001;
pub const BUSY: i32 = -32003;
pub const CLIENTS: i32 = -32004;

/// Why a call cannot be answered.
pub struct Failure {
    code: i32,
    message: String,
}

impl Failure {
    pub fn new(code: i32, message: &str) -> Self {
        Failure { code, message: message.to_string() }
    }

    /// True if the connection must be closed, because later input may be malformed too.
    pub fn closes(&self) -> bool {
        self.code == PARSE || self.code == INVALID
    }

    pub fn line(&self, id: Option<u64>) -> String {
        let id = id.map_or("null".to_string(), |number| number.to_string());
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":{},\"message\":{}}}}}\n",
            id,
            self.code,
            quote(&self.message)
        )
    }
}
