"""Build the page of a recorded run that needs no backend: `python tools/build_demo.py`.

`make demo-site` writes dist/demo, which any server of static files serves, in any folder: the page
of runs, built for files (frontend/src/recorded.tsx), and below `data/` the answers that it asks
for. Arguments and output of programs are left out, as they are for viewers.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from command_line import ROOT
from tidscope_backend.exchange.importing import import_run
from tidscope_backend.exchange.packing import manifest_to_pack, open_run
from tidscope_backend.hidden_arguments import frame_without
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.frame_files import pack_frame
from tidscope_wire.generated.limits import MAX_RUN_FRAMES

RUN = ROOT / "tests" / "e2e" / "fixtures" / "runs" / "demo.tar.zst"
"""The demo program, recorded by `npm run record-pictures`."""
HOME = "../"
"""Address of the documentation, seen from the page."""


def write_answers(archive: Path, out: Path) -> str:
    """Write the answers about a run as files; return its ID.

    Args:
        archive: an exported run.
        out: folder of the answers.
    """
    with tempfile.TemporaryDirectory(prefix="tidscope-demo-") as name:
        manifest = import_run(archive, Path(name), exists=lambda _: False)
        path = Path(name) / manifest.id
        folder = out / "runs" / manifest.id
        folder.mkdir(parents=True)
        shown = manifest_to_pack(path, hide=True)
        folder.with_suffix(".json").write_text(shown.model_dump_json(), encoding="utf-8")
        frames = frames_between(open_run(path, hide=True), None, None, MAX_RUN_FRAMES)
        with gzip.open(folder / "frames.gzip", "wb") as file:
            file.writelines(pack_frame(frame_without(frame)) for frame in frames)
    return manifest.id


def build(archive: Path, out: Path, home: str) -> None:
    """Build page and answers into a folder, which is emptied.

    Args:
        archive: an exported run.
        out: the folder.
        home: address of the documentation.
    """
    shutil.rmtree(out, ignore_errors=True)
    run = write_answers(archive, out / "data")
    command = ["npm", "run", "--silent", "build", "--", "--mode", "recorded"]
    command += ["--outDir", str(out), "--emptyOutDir", "false", "--logLevel", "warn"]
    environment = {**os.environ, "VITE_RUN": run, "VITE_HOME": home}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "dist" / "demo")
    parser.add_argument("--run", type=Path, default=RUN, help="an exported run (.tar.zst)")
    parser.add_argument("--home", default=HOME, help="address of the documentation")
    options = parser.parse_args()
    build(options.run, options.out.resolve(), options.home)
