//! Agent protocol (docs/agents.md): parses requests and formats answers.

use crate::failure::{Failure, INVALID, METHOD, PARAMS, PARSE};
use crate::json::{quote, Json};
use crate::lease::Lease;
use crate::registry;
use std::time::{Duration, Instant};

pub const LARGEST_SIZE: usize = 1 << 20;
pub const RESTART_SEARCH: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"restart_search\"}\n";
const LARGEST_ID: u64 = (1 << 53) - 1;
const LONGEST_LEASE_S: f64 = 60.0;
const LONGEST_QUOTE: usize = 40;

/// Answer a client's line; the result says whether the connection must be closed.
pub fn reply(lease: &mut Lease, begin: Instant, client: u64, line: &[u8]) -> (String, bool) {
    let mut id = None;
    match answer(lease, begin, client, line, &mut id) {
        Ok(result) => {
            let id = id.unwrap_or_default();
            (format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}\n", id, result), false)
        }
        Err(wrong) => (wrong.line(id), wrong.closes()),
    }
}

fn answer(
    lease: &mut Lease,
    begin: Instant,
    client: u64,
    line: &[u8],
    id: &mut Option<u64>,
) -> Result<String, Failure> {
    let not_json = || Failure::new(PARSE, "the line is not JSON");
    let text = std::str::from_utf8(line).map_err(|_| not_json())?;
    let call = Json::parse(text).map_err(|_| not_json())?;
    let method = method_of(&call, id)?;
    if method == "set" {
        set(lease, client, call.get("params"))?;
        return Ok(sizes(lease));
    }
    if !["hello", "read", "read_pools", "release"].contains(&method) {
        let why = format!("there is no method {}", brief(method));
        return Err(Failure::new(METHOD, &why));
    }
    if call.get("params").is_some() {
        return Err(Failure::new(PARAMS, &format!("{} takes no parameters", method)));
    }
    let now_ns = begin.elapsed().as_nanos();
    Ok(match method {
        "hello" => hello(lease),
        "read" => reading(lease, now_ns),
        "read_pools" => format!("{{{},\"monotonic_ns\":{}}}", registry::answer(), now_ns),
        _ => {
            lease.release();
            sizes(lease)
        }
    })
}

fn method_of<'a>(call: &'a Json, id: &mut Option<u64>) -> Result<&'a str, Failure> {
    let members = match call {
        Json::Object(members) => members,
        _ => return Err(Failure::new(INVALID, "the line is not a JSON object")),
    };
    *id = call.get("id").and_then(|number| number.integer(0, LARGEST_ID));
    if id.is_none() {
        return Err(Failure::new(INVALID, "id must be an integer from 0 on"));
    }
    if call.get("jsonrpc").and_then(Json::text) != Some("2.0") {
        return Err(Failure::new(INVALID, "jsonrpc must be \"2.0\""));
    }
    let method = call.get("method").and_then(Json::text);
    let method = method.ok_or_else(|| Failure::new(INVALID, "method must be a string"))?;
    for (name, _) in members {
        if !["id", "jsonrpc", "method", "params"].contains(&name.as_str()) {
            return Err(Failure::new(INVALID, &format!("a call has no member {}", brief(name))));
        }
    }
    Ok(method)
}

fn set(lease: &mut Lease, client: u64, params: Option<&Json>) -> Result<(), Failure> {
    let names = match params {
        Some(Json::Object(members)) => members.iter().map(|(name, _)| name.as_str()).collect(),
        _ => Vec::new(),
    };
    let wanted = ["size", "lease_s"];
    let complete = wanted.iter().all(|name| names.contains(name));
    if !complete || names.iter().any(|name| !wanted.contains(name)) {
        return Err(Failure::new(PARAMS, "set takes size and lease_s, and nothing else"));
    }
    let member = |name| params.and_then(|given| given.get(name));
    let size = member("size").and_then(|size| size.integer(1, LARGEST_SIZE as u64));
    let size = size.ok_or_else(|| {
        Failure::new(PARAMS, &format!("size must be an integer from 1 to {}", LARGEST_SIZE))
    })?;
    let seconds = member("lease_s").and_then(Json::number);
    let seconds = seconds.filter(|&seconds| seconds > 0.0 && seconds <= LONGEST_LEASE_S);
    let seconds = seconds.ok_or_else(|| {
        Failure::new(PARAMS, "lease_s must be a number above 0, 60 at most")
    })?;
    lease.set(client, size as usize, Duration::from_secs_f64(seconds))
}

fn hello(lease: &Lease) -> String {
    format!(
        "{{\"pid\":{},\"runtime\":\"native\",\"version\":{},\"protocol\":2,\"knob\":{},\
         \"lower\":{},\"upper\":{},\"size\":{},\"original\":{}}}",
        std::process::id(),
        quote(crate::VERSION),
        quote(lease.steered.knob()),
        lease.lower,
        lease.upper,
        lease.steered.size(),
        lease.original
    )
}

fn reading(lease: &Lease, now_ns: u128) -> String {
    let (ops, wait_ns, waits) = lease.steered.counts();
    format!(
        "{{\"ops\":{},\"size\":{},\"queue_wait_ns\":{},\"queue_waits\":{},\"monotonic_ns\":{}}}",
        ops,
        lease.steered.size(),
        wait_ns,
        waits,
        now_ns
    )
}

fn sizes(lease: &Lease) -> String {
    format!("{{\"size\":{},\"wanted\":{}}}", lease.steered.size(), lease.steered.wanted())
}

fn brief(text: &str) -> String {
    format!("'{}'", text.chars().take(LONGEST_QUOTE).collect::<String>())
}
