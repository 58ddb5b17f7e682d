"""The proxy of packaging/kubernetes before a backend: a collector connects by TLS with own CA."""

import os
import re
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import yaml
from backend_server import TOKEN
from capabilities import missing, needs
from certificates import make_authority, make_certificate
from processes import wait_until
from tidscope_backend.security.host_file import FILE_NAME, HostFile
from tidscope_backend.settings import state_directory
from tidscope_processes import ROOT, CollectorProcess, free_port, served
from tidscope_wire.proof import host_secret

pytestmark = needs("root")
NGINX = ROOT / ".cache" / "nginx" / "usr" / "sbin" / "nginx"
FOLDER = ROOT / "packaging" / "kubernetes"
NODE = "node-1"


@contextmanager
def proxy(folder: Path, port: int, backend: int) -> Iterator[None]:
    """nginx with the configuration of the manifests, but for ports and folders."""
    if not NGINX.exists():
        raise missing("nginx", "tools/install-test-packages unpacks it")
    rules = (FOLDER / "nginx.conf").read_text().replace("/tmp/", f"{folder}/")
    rules = rules.replace("/run/tls/", f"{folder}/tls/")
    ports = {"8443": str(port), "8787": str(backend)}
    # In one pass: a port may contain the digits of the other one.
    rules = re.sub("8443|8787", lambda found: ports[found[0]], rules)
    (folder / "nginx.conf").write_text(rules)
    command: list[str | Path] = [NGINX, "-c", folder / "nginx.conf", "-e", folder / "log"]
    with subprocess.Popen([*command, "-g", "daemon off; user root;"]) as running:
        try:
            wait_until((folder / "nginx.pid").exists)
            yield
        finally:
            running.terminate()


async def test_a_collector_connects_by_tls_and_a_page_is_served(tmp_path: Path) -> None:
    authority = make_authority(tmp_path / "tls")
    make_certificate(tmp_path / "tls")
    port, backend, state = free_port(), free_port(), tmp_path / "state"
    documents = yaml.safe_load_all((FOLDER / "backend.yaml").read_text())
    containers = next(documents)["spec"]["template"]["spec"]["containers"]
    options = [one.replace("8443", str(port)) for one in containers[0]["args"][3:]]
    environment = {"XDG_STATE_HOME": str(state)}
    async with served(backend, options=options, **environment):
        with proxy(tmp_path, port, backend):
            folder = state_directory(environment)
            assert folder is not None
            secret = host_secret(NODE, HostFile(folder / FILE_NAME).add(NODE, 0))
            address = f"https://localhost:{port}"
            to = ("--backend", f"wss://localhost:{port}/ws/collector")
            os.environ["SSL_CERT_FILE"] = str(authority)
            try:
                collector = CollectorProcess(port, secret=secret, options=to)
                async with collector:
                    await collector.says("connected to the backend")
            finally:
                del os.environ["SSL_CERT_FILE"]
            headers = {"authorization": f"Bearer {TOKEN}"}
            verified = ssl.create_default_context(cafile=str(authority))
            async with httpx.AsyncClient(
                base_url=address, headers=headers, verify=verified, timeout=120
            ) as page:
                assert (await page.get("/")).status_code == 200
                (host,) = (await page.get("/api/v1/hosts")).json()["hosts"]
                assert host["id"] in HostFile(folder / FILE_NAME).entries()[NODE].host_ids
                refused = await page.get("/", headers={"host": "elsewhere"})
                assert refused.status_code in (400, 403, 421)
