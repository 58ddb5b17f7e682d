"""Each agent is adopted from its package alone, by the first lines of its README."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from capabilities import missing, needs
from programs.agent_program import AGENTS, JAVA_OPTIONS
from programs.build import build_rust, go_command, go_environment
from tidscope_agent import VERSION
from tool_scripts import load_tool

packer = load_tool("pack_agents")
CODE = re.compile(r"```\w+\n(.*?)```", re.DOTALL)


def run(command: list[str], folder: Path, **env: str) -> str:
    """Run a command with a folder for sockets, and without what leads to the repository."""
    sockets = folder / "sockets"
    sockets.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": "", "TIDSCOPE_AGENT_DIR": str(sockets), **env}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def adoption(readme: str) -> tuple[str, str]:
    """Lines of a README's first code: those that import, and the others."""
    (lines,) = CODE.findall(readme)[:1]
    head = [line for line in lines.splitlines() if re.match(r"#|import |from ", line)]
    body = [line for line in lines.splitlines() if line not in head]
    return "\n".join(head) + "\n", "\n".join(body) + "\n"


def agents_copy(folder: Path) -> Path:
    """Copy the agents as the packer does, for one packer."""
    ignored = shutil.ignore_patterns("target", "dist", "__pycache__")
    return Path(shutil.copytree(AGENTS, folder / "agents", ignore=ignored))


def made_by(name: str, tmp_path: Path) -> Path:
    """Make one package; its first file."""
    agents = agents_copy(tmp_path)
    try:
        first, *_ = getattr(packer, name)(agents, tmp_path, packer.version_of(agents))
    except subprocess.CalledProcessError as error:
        raise missing("crates", str(error)) from None
    assert packer.version_of(agents) == VERSION
    return Path(first)


def test_the_wheel_of_python(tmp_path: Path) -> None:
    wheel = made_by("pack_wheel", tmp_path)
    with zipfile.ZipFile(wheel) as packed:
        assert {"tidscope_agent/py.typed", "tidscope_agent/pool.py"} <= set(packed.namelist())
        (metadata,) = (name for name in packed.namelist() if name.endswith("/METADATA"))
        head, body = adoption(packed.read(metadata).decode())
    installed = tmp_path / "installed"
    uv = [str(Path(sys.executable).parent / "uv"), "pip", "install", "--quiet", "--offline"]
    run([*uv, "--python", sys.executable, "--target", str(installed), str(wheel)], tmp_path)
    program = tmp_path / "program.py"
    program.write_text(
        f"{head}handle, request = print, 'done'\n{body}\nimport tidscope_agent as used\n"
        f"assert used.__file__.startswith({str(installed)!r}), used.__file__\n"
        "pool.shutdown()\nassert pool.counts().ops == 1, pool.counts()\n"
    )
    run([sys.executable, str(program)], tmp_path, PYTHONPATH=str(installed))


def test_the_crate_of_rust(tmp_path: Path) -> None:
    packed = made_by("pack_crate", tmp_path)
    shutil.unpack_archive(packed, tmp_path / "unpacked", "gztar")
    (crate,) = (tmp_path / "unpacked").iterdir()
    _, body = adoption((crate / "README.md").read_text())
    crate = crate.rename(crate.with_name("tidscope_agent"))
    main = tmp_path / "adopted" / "main.rs"
    main.parent.mkdir()
    main.write_text(
        "fn main() -> Result<(), Box<dyn std::error::Error>> {\n"
        "let (sender, handled) = std::sync::mpsc::channel();\n"
        "let request = 7;\n"
        "let handle = move |one| {\n"
        "  sender.send(one).unwrap();\n"
        "  Ok::<(), tidscope_agent::Failed>(())\n"
        "};\n"
        f"{body}\nassert_eq!(handled.recv()?, 7);\nOk(()) }}\n"
    )
    run([str(build_rust(main, crate))], tmp_path)


POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>adopted</artifactId>
  <version>1</version>
  <properties><maven.compiler.release>17</maven.compiler.release></properties>
  <dependencies>
    <dependency>
      <groupId>io.github.tidscope</groupId>
      <artifactId>tidscope-agent</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
  <build><plugins><plugin>
    <artifactId>maven-compiler-plugin</artifactId>
    <version>3.13.0</version>
  </plugin></plugins></build>
</project>
"""


def repository_of(tmp_path: Path) -> Path:
    """A local Maven repository with the user's plugins, but without our artefact."""
    shared, own = Path.home() / ".m2" / "repository", tmp_path / "repository"
    (own / "io" / "github").mkdir(parents=True)
    for folder in (shared, shared / "io"):
        for path in folder.iterdir() if folder.is_dir() else ():
            link = own / path.relative_to(shared)
            if not link.exists():
                link.symlink_to(path)
    return own


def test_the_artefact_of_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mvn install` puts it where a program that depends on it finds it."""
    monkeypatch.setenv("MAVEN_OPTS", " ".join(JAVA_OPTIONS))
    jar = made_by("pack_jar", tmp_path)
    head, body = adoption((AGENTS / "java" / "README.md").read_text())
    main = tmp_path / "src" / "main" / "java" / "Adopted.java"
    main.parent.mkdir(parents=True)
    main.write_text(
        f"{head}class Adopted {{\n"
        "static int handled;\n"
        "static void handle(int request) { handled = request; }\n"
        "public static void main(String[] arguments) throws Exception {\n"
        f"int request = 7;\n{body}\n"
        "pool.shutdown();\n"
        "pool.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES);\n"
        'if (handled != 7) throw new AssertionError("not handled"); } }\n'
    )
    (tmp_path / "pom.xml").write_text(POM)
    repository = repository_of(tmp_path)
    plugin = "org.apache.maven.plugins:maven-install-plugin:2.4:install-file"
    files = [f"-Dfile={jar}", f"-DpomFile={jar.with_suffix('.pom')}"]
    maven = ["mvn", "-q", "-B", f"-Dmaven.repo.local={repository}"]
    run([*maven, *files, plugin, "compile"], tmp_path)
    (installed,) = (repository / "io" / "github").rglob("tidscope-agent-*.jar")
    assert installed.read_bytes() == jar.read_bytes()
    run(["java", "-cp", f"target/classes:{installed}", "Adopted"], tmp_path)


@needs("go")
def test_the_module_of_go(tmp_path: Path) -> None:
    """`go get` takes it from a proxy that is a folder."""
    packed = made_by("pack_module", tmp_path)
    with zipfile.ZipFile(packed) as archive:
        assert not [name for name in archive.namelist() if "/example/" in name]
    proxy = tmp_path / "proxy" / packer.GO_MODULE / "@v"
    proxy.mkdir(parents=True)
    shutil.copy(packed, proxy / f"v{VERSION}.zip")
    shutil.copy(AGENTS / "go" / "go.mod", proxy / f"v{VERSION}.mod")
    (proxy / f"v{VERSION}.info").write_text(f'{{"Version": "v{VERSION}"}}')
    (proxy / "list").write_text(f"v{VERSION}\n")
    own = {
        **go_environment(),
        "GOPROXY": f"file://{tmp_path / 'proxy'}",
        "GONOSUMDB": "*",
        "GOFLAGS": "-mod=mod -modcacherw",
        "GOMODCACHE": str(tmp_path / "modules"),
    }
    adopted = tmp_path / "adopted"
    adopted.mkdir()
    head, body = adoption((AGENTS / "go" / "README.md").read_text())
    (adopted / "main.go").write_text(
        f'package main\n{head}import "log"\nfunc main() {{\n{body}'
        'if tidscope.Ops.Load() != 1 { log.Fatal("not counted") } }\n'
    )
    run([go_command(), "mod", "init", "example.org/adopted"], adopted, **own)
    run([go_command(), "get", f"{packer.GO_MODULE}@v{VERSION}"], adopted, **own)
    listed = run([go_command(), "list", "-m", "all"], adopted, **own).splitlines()
    assert listed == ["example.org/adopted", f"{packer.GO_MODULE} v{VERSION}"]
    run([go_command(), "run", "."], adopted, **own)


def test_the_tarball_of_c(tmp_path: Path) -> None:
    """Installed by its Makefile, it compiles without warnings as C11 and as C++17."""
    packed = made_by("pack_header", tmp_path)
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    folder, prefix = tmp_path / packed.name.removesuffix(".tar.gz"), tmp_path / "prefix"
    run(["make", "-s", "install", f"PREFIX={prefix}"], folder)
    paths = {"PKG_CONFIG_PATH": str(prefix / "share" / "pkgconfig")}
    ask = ["pkg-config", "tidscope-agent"]
    assert run([*ask, "--modversion"], tmp_path, **paths).strip() == VERSION
    flags = run([*ask, "--cflags", "--libs"], tmp_path, **paths).split()
    head, body = adoption((folder / "README.md").read_text())
    (tmp_path / "adopted.c").write_text(
        f"{head}static int handle(int request) {{ return request != 7; }}\n"
        f"int main(void) {{\nint request = 7;\n{body}"
        "return tidscope_pool_size(pool) == 8 && *tidscope_path() == '/' ? 0 : 1; }\n"
    )
    strict = ["-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "adopted.c", "-o", "adopted"]
    for compiler in (["cc", "-std=c11"], ["c++", "-std=c++17", "-x", "c++"]):
        run([*compiler, *strict, *flags], tmp_path)
        run(["./adopted"], tmp_path)
        assert not list((tmp_path / "sockets").iterdir())
    _check_cmake((folder / "README.md").read_text(), prefix, tmp_path)


def _check_cmake(readme: str, prefix: Path, folder: Path) -> None:
    """The lines of the README find the package, but not one of another series."""
    (lines,) = re.findall(r"```cmake\n(.*?)```", readme, re.DOTALL)
    asked = f"find_package(tidscope-agent {VERSION} "
    assert asked in lines
    head = "cmake_minimum_required(VERSION 3.18)\nproject(adopted C)\n"
    head += "add_executable(service adopted.c)\n"
    configure = ["cmake", "-S", ".", "-B", "built", f"-DCMAKE_PREFIX_PATH={prefix}"]
    (folder / "CMakeLists.txt").write_text(head + lines)
    run(configure, folder)
    run(["cmake", "--build", "built"], folder)
    run(["built/service"], folder)
    (folder / "CMakeLists.txt").write_text(head + lines.replace(VERSION, "0.99"))
    refused = subprocess.run(configure, cwd=folder, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert f"version: {VERSION}" in refused.stderr


def test_the_same_sources_give_the_same_package(tmp_path: Path) -> None:
    for name in ("pack_module", "pack_header"):
        made = [made_by(name, tmp_path / name / str(at)).read_bytes() for at in range(2)]
        assert made[0] == made[1]
