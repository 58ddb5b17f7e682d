"""Builds the programs that tests watch, once for each content of their source."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

GO = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin:/usr/lib/go/bin")
CACHE = Path(__file__).parents[2] / ".cache" / "programs"


def cached(
    name: str,
    source: bytes,
    command: Sequence[str],
    files: Sequence[str],
    *,
    env: dict[str, str],
    output: str = "-o",
) -> Path:
    """Run ``command`` ``output`` RESULT ``files`` unless the result is there already; its path.

    ``source`` and ``command`` make the key. Builders may run side by side.

    Raises:
        RuntimeError: the compiler refused, with what it said.
    """
    key = hashlib.sha256(source + "\0".join(command).encode()).hexdigest()[:16]
    result = CACHE / key / name
    result.parent.mkdir(parents=True, exist_ok=True)
    with (result.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if result.exists():
            return result
        unfinished = result.with_suffix(".new")
        built = subprocess.run(
            [*command, output, str(unfinished), *files],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{built.stderr}")
        unfinished.rename(result)
    return result


def build_c(source: Path, *flags: str) -> Path:
    """Compile one C file with the system's compiler; the path of the executable."""
    compile_it = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", *flags]
    return _build_native(source, compile_it)


def build_cpp(source: Path, *flags: str) -> Path:
    """Compile one C++ file with the system's compiler; the path of the executable."""
    compile_it = ["c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread", *flags]
    return _build_native(source, compile_it)


def _build_native(source: Path, command: list[str]) -> Path:
    """Compile a file; its key has the headers of the folders that `-I` names."""
    folders = [Path(flag[2:]) for flag in command if flag.startswith("-I")]
    headers = [path for folder in folders for path in sorted(folder.glob("*.h"))]
    content = b"".join(path.read_bytes() for path in (source, *headers))
    # Guests with another processor have this cache as well.
    content += os.uname().machine.encode()
    return cached(source.stem, content, command, [str(source)], env=dict(os.environ))


def build_go(source: Path, *flags: str, processor: str = "") -> Path:
    """Compile one Go file that uses the standard library only; the path of the executable.

    Args:
        source: the file.
        flags: for `go build`.
        processor: GOARCH; this machine's if empty.

    Raises:
        RuntimeError: there is no Go compiler, or it refused.
    """
    command = [go_command(), "build", *flags]
    env = go_environment() | ({"GOARCH": processor} if processor else {})
    content = source.read_bytes() + processor.encode()
    return cached(source.stem, content, command, [str(source)], env=env)


def build_go_module(folder: Path, *needs: Path, flags: Sequence[str] = ()) -> Path:
    """Compile the Go module in a folder, and those that it replaces by folders; the executable.

    Args:
        folder: folder of its go.mod.
        needs: folders of the modules that it uses.
        flags: for `go build`.

    Raises:
        RuntimeError: there is no Go compiler, or it refused.
    """
    files = [path for place in (folder, *needs) for path in sorted(place.glob("*.*"))]
    source = b"".join(path.read_bytes() for path in files)
    command = [go_command(), "build", "-C", str(folder), *flags]
    return cached(folder.name, source, command, ["."], env=go_environment())


def build_go_package(module: str, version: str, package: str) -> Path:
    """Compile a program of a published module within its own source; the executable.

    Args:
        module: module path.
        version: version of the module.
        package: folder of the program in it, or ".".

    Raises:
        RuntimeError: there is no Go compiler, the module cannot be fetched, or does not compile.
    """
    named = f"{module}@{version}"
    found = subprocess.run(
        [go_command(), "mod", "download", "-json", named],
        env=go_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        raise RuntimeError(f"{named}: {found.stderr or found.stdout}")
    source = json.loads(found.stdout)["Dir"]
    command = [go_command(), "build", "-C", source]
    content = f"{named}/{package}".encode()
    return cached(
        Path(module, package).name, content, command, [f"./{package}"], env=go_environment()
    )


def build_java(name: str, sources: Sequence[Path]) -> Path:
    """Compile Java sources; the folder of the classes.

    Raises:
        RuntimeError: there is no Java compiler, or it refused.
    """
    javac = shutil.which("javac")
    if javac is None:
        raise RuntimeError("no Java compiler: javac is not in PATH")
    files = sorted(sources)
    text = b"".join(path.read_bytes() for path in files)
    command = [javac, "-Xlint:all", "-Werror", "--release", "17"]
    return cached(name, text, command, list(map(str, files)), env=dict(os.environ), output="-d")


def build_rust(main: Path, crate: Path | None = None, *flags: str) -> Path:
    """Compile a Rust program that uses the standard library and at most one crate; the executable.

    Args:
        main: main file.
        crate: folder of the crate, which needs no other one.
        flags: for the compiler.

    Raises:
        RuntimeError: there is no Rust compiler, or it refused.
    """
    rustc = shutil.which("rustc")
    if rustc is None:
        raise RuntimeError("no Rust compiler: rustc is not in PATH")
    command = [rustc, "--edition", "2021", "-O", *flags]
    env = {**os.environ, "CARGO_PKG_VERSION": "0.1.0"}
    source = b"".join(path.read_bytes() for path in sorted(main.parent.glob("*.rs")))
    if crate is not None:
        name = crate.name
        files = sorted((crate / "src").glob("*.rs"))
        text = b"".join(path.read_bytes() for path in files)
        library = [*command, "--crate-type", "rlib", "--crate-name", name]
        built = cached(f"lib{name}.rlib", text, library, [str(crate / "src/lib.rs")], env=env)
        command = [*command, "--extern", f"{name}={built}"]
    return cached(main.parent.name, source, command, [str(main)], env=env)


def build_cargo(folder: Path, *needs: Path, flags: str = "") -> Path:
    """Compile the Rust package in a folder, with crates of the registry; the executable.

    Args:
        folder: folder of its Cargo.toml and Cargo.lock.
        needs: folders of the packages that it uses.
        flags: for the compiler (RUSTFLAGS).

    Raises:
        RuntimeError: there is no cargo, crates cannot be fetched, or the compiler refused.
    """
    cargo = shutil.which("cargo")
    if cargo is None:
        raise RuntimeError("no cargo in PATH")
    files = [
        path
        for place in (folder, *needs)
        for path in sorted([*place.glob("*.*"), *(place / "src").glob("*.rs")])
    ]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in files) + flags.encode())
    place = CACHE / key.hexdigest()[:16]
    place.mkdir(parents=True, exist_ok=True)
    result = place / "release" / folder.name
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not result.exists():
            built = subprocess.run(
                [cargo, "build", "-q", "--release", "--locked", "--target-dir", str(place)],
                cwd=folder,
                env={**os.environ, "RUSTFLAGS": flags},
                capture_output=True,
                text=True,
                check=False,
            )
            if built.returncode != 0:
                raise RuntimeError(f"cargo build:\n{built.stderr[-4000:]}")
    return result


def go_command() -> str:
    """The Go compiler.

    Raises:
        RuntimeError: there is none.
    """
    if GO is None:
        raise RuntimeError("no Go compiler: neither in PATH nor in /usr/local/go/bin")
    return GO


def go_environment() -> dict[str, str]:
    """Variables for a build that depends on no setting of the user's.

    Its cache is the user's, wherever a test has other caches: the rest is compiled once for all.
    """
    caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {
        "GOCACHE": f"{caches}/go-build",
        **os.environ,
        "GOFLAGS": "",
        "GOTOOLCHAIN": "local",
        "GO111MODULE": "on",
        "CGO_ENABLED": "0",
    }
