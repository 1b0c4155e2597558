"""Builds the images that are missing, on the best base that can be had. A second build asks two questions and does nothing.

Leaves out the recipe itself (`images`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from docker.errors import ImageNotFound

from harness.errors import EnvironmentMissing, LoudgateError, StackError
from harness.stack import images
from harness.stack.docker_door import CALL_S, Door
from harness.stack.images import Recipe

Say = Callable[[str], None]

PULL_S = 240.0
"""Fetching one official image over a slow line."""

BUILD_S = 240.0
"""One image takes 30 s on two cores, most of it Debian's packages."""

IMPORT_S = 120.0
"""Importing 200 MB of base takes 5 s."""

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def built(door: Door, names: Sequence[str]) -> dict[str, str]:
    """Image → tag, if all of these are there on one provider's base; else nothing."""
    for provider in images.wanted_providers():
        recipes = [images.recipe(name, provider) for name in names]
        if all(_id(door, made.tag) for made in recipes):
            return {made.name: made.tag for made in recipes}
    return {}


def identities(door: Door, tags: dict[str, str]) -> dict[str, str]:
    """Image → its id (a digest of its content), for the report."""
    return {tag: _id(door, tag) for tag in tags.values()}


def build(door: Door, say: Say, names: Sequence[str] = images.IMAGES) -> dict[str, str]:
    """Build what is missing of these; gives image → tag."""
    if tags := built(door, names):
        return tags
    refused: list[str] = []
    for provider in images.wanted_providers():
        try:
            return _make_all(door, [images.recipe(name, provider) for name in names], say)
        except EnvironmentMissing as error:
            refused.append(f"{provider}: {error}")
            say(refused[-1])
    raise EnvironmentMissing("no base for the images can be had: " + "; ".join(refused))


def _id(door: Door, tag: str) -> str:
    def ask() -> str:
        try:
            return str(door.api.inspect_image(tag)["Id"])
        except ImageNotFound:
            return ""

    return door.call(f"looking for image {tag}", ask)


def _make_all(door: Door, recipes: Sequence[Recipe], say: Say) -> dict[str, str]:
    """All at once, since most of it is waiting for packages. The first base is had alone: where none can be, that is said once."""
    missing = [made for made in recipes if not _id(door, made.tag)]
    if missing:
        _base(door, missing[0], say)
    with ThreadPoolExecutor(len(recipes), "docker-build") as pool:
        list(pool.map(lambda made: _make(door, made, say), missing))
    return {made.name: made.tag for made in recipes}


def _base(door: Door, made: Recipe, say: Say) -> str:
    return _pinned_base(door, made, say) if made.provider == images.REGISTRY else _debian_base(door, say)


def _make(door: Door, made: Recipe, say: Say) -> None:
    base = _base(door, made, say)
    version = door.call("asking for the version", door.api.version)
    say(f"{made.name}: preparing what the build needs")
    with images.build_context(made, _MACHINES.get(version["Arch"], version["Arch"])) as context:
        say(f"{made.name}: building {made.tag}")
        door.call(f"building {made.tag}", lambda: _build(door, made, base, context, say), seconds=BUILD_S)


def _build(door: Door, made: Recipe, base: str, context: Path, say: Say) -> None:
    lines = door.api.build(
        path=str(context), tag=made.tag, buildargs={"BASE": base}, rm=True, forcerm=True, decode=True, timeout=int(BUILD_S)
    )
    for line in lines:
        if "error" in line:
            raise StackError(f"building {made.tag} failed: {line['error'].strip()}")
        if (text := str(line.get("stream", "")).strip()).startswith("Step "):
            say(f"{made.name}: {text.splitlines()[0][:100]}")


def _pinned_base(door: Door, made: Recipe, say: Say) -> str:
    base = images.PINNED[made.name]
    if not _id(door, base):
        say(f"{made.name}: pulling {base}")
        try:
            door.call(f"pulling {base}", lambda: door.api.pull(base), seconds=PULL_S)
        except LoudgateError as error:
            raise EnvironmentMissing(str(error).partition(" [effect")[0]) from error
        if not _id(door, base):
            raise EnvironmentMissing(f"pulling {base} brought nothing")
    return base


def _debian_base(door: Door, say: Say) -> str:
    tag = images.base_tag()
    if not _id(door, tag):
        say(f"base: making a minimal Debian {images.SUITE}")
        with images.debian_tree() as root:
            say(f"base: importing it as {tag}")
            door.call(f"importing {tag}", lambda: _import(door, root, tag), seconds=IMPORT_S)
    return tag


def _import(door: Door, root: Path, tag: str) -> None:
    repository, _, version = tag.partition(":")
    command = ["tar", "-C", str(root), "--numeric-owner", "--exclude=./var/cache/apt/archives/*.deb", "-c", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tar:  # noqa: S603 -- fixed words
        assert tar.stdout is not None
        # Through the library's own session: its helper for streams reads all of it into memory first.
        api, where = door.api, {"fromSrc": "-", "repo": repository, "tag": version}
        reply = api.post(api._url("/images/create"), data=tar.stdout, params=where, timeout=CALL_S)
        reply.raise_for_status()
