//! The class `Link`: frames on their way to the backend.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tungstenite::Bytes;

use super::convert::os_error;
use crate::encode::frame::Frame;
use crate::link::peer::Address;
use crate::link::replay::Replay;
use crate::link::uplink::{Session, Uplink};
use crate::link::websocket::Place;
use crate::slots::lock;

/// Header of the response by which the backend shows that it accepts a proof.
const PROOF_HEADER: &str = "Tidscope-Proof";

/// Signs in by Python, in the thread of the link.
struct SignIn {
    session: Py<PyAny>,
    hello: Arc<Mutex<String>>,
}

impl Session for SignIn {
    fn headers(&mut self) -> Result<Vec<(String, String)>, String> {
        Python::attach(|py| {
            let made = self.session.call_method0(py, "headers");
            made.and_then(|headers| headers.extract(py)).map_err(|error| text(py, &error))
        })
    }

    fn accept(&mut self, header: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        let proof = header(PROOF_HEADER);
        Python::attach(|py| {
            let result = self.session.call_method1(py, "accept", (proof,));
            result.map(drop).map_err(|error| text(py, &error))
        })
    }

    fn hello(&mut self) -> String {
        lock(&self.hello).clone()
    }
}

fn text(py: Python<'_>, error: &PyErr) -> String {
    error.value(py).to_string()
}

/// Keeps frames and sends them, in a thread of its own.
#[pyclass]
pub struct Link {
    uplink: Arc<Uplink>,
    hello: Arc<Mutex<String>>,
}

impl Link {
    /// Link for the sampler to send frames through.
    pub fn sink(&self) -> Arc<Uplink> {
        Arc::clone(&self.uplink)
    }
}

#[pymethods]
impl Link {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        address: (String, Option<u16>),
        secure: bool,
        host: String,
        path: String,
        session: Py<PyAny>,
        most_confirmed: usize,
        most_waiting: usize,
    ) -> PyResult<Self> {
        let address = match address {
            (name, Some(port)) if secure => Address::Tls(name, port),
            (name, Some(port)) => Address::Tcp(name, port),
            (path, None) => Address::Unix(path),
        };
        let hello = Arc::default();
        let session = Box::new(SignIn { session, hello: Arc::clone(&hello) });
        let replay = Replay::new(most_confirmed, most_waiting);
        let uplink = Uplink::start(Place { address, host, path }, session, replay);
        Ok(Self { uplink: Arc::new(uplink.map_err(|error| os_error(&error))?), hello })
    }

    fn connect(&self, hello: String) {
        *lock(&self.hello) = hello;
        self.uplink.connect();
    }

    fn disconnect(&self) {
        self.uplink.disconnect();
    }

    fn stop(&self, py: Python<'_>) {
        // The thread may be waiting for Python's lock.
        py.detach(|| self.uplink.stop());
    }

    #[pyo3(signature = (target, seq, data, key, baseline=false))]
    fn add(&self, target: &str, seq: u64, data: &Bound<'_, PyBytes>, key: bool, baseline: bool) {
        let data = Bytes::copy_from_slice(data.as_bytes());
        Uplink::add(&self.uplink, target, Frame { seq, data, key, baseline });
    }

    fn say(&self, text: String) -> bool {
        self.uplink.say(text)
    }

    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let load = self.uplink.load();
        let made = PyDict::new(py);
        made.set_item("connected", load.connected)?;
        made.set_item("replay_bytes", load.replay_bytes)?;
        made.set_item("replay_frames", load.replay_frames)?;
        made.set_item("unsent_frames", load.unsent_frames)?;
        made.set_item("undelivered_bytes", load.undelivered_bytes)?;
        made.set_item("backlog", load.backlog)?;
        made.set_item("sent_frames", load.sent_frames)?;
        made.set_item("sent_bytes", load.sent_bytes)?;
        made.set_item("dropped", self.uplink.all_dropped())?;
        Ok(made)
    }

    fn last(&self) -> BTreeMap<String, u64> {
        self.uplink.last()
    }

    fn is_sent(&self, target: &str) -> bool {
        self.uplink.is_sent(target)
    }

    fn forget(&self, target: &str) {
        self.uplink.forget(target);
    }

    fn is_stalled(&self) -> bool {
        Uplink::is_stalled(&self.uplink)
    }

    fn notice(&self) -> Option<String> {
        self.uplink.notice()
    }

    fn deliver(&self, py: Python<'_>, seconds: f64) -> usize {
        let longest = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| self.uplink.deliver(longest))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| py.detach(|| self.uplink.stop()));
    }
}
