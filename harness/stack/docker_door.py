"""The one door to the Docker engine: connecting, a deadline on every call, foreign errors translated.

A call runs in a thread of its own that is given up when its deadline passes: the library's own timeout covers the silence between
two bytes, not a call as a whole. Leaves out what the calls are for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient

from harness.errors import EnvironmentMissing, LoudgateError, StackError

CONNECT_S = 5.0
"""A local engine answers a ping within 10 ms; one that does not within this is taken for none."""

CALL_S = 30.0
"""The longest plain call is starting a container on a busy machine: 2 s."""

SILENCE_S = 20
"""Seconds between two bytes of a reply, for the library's own timeout; below CALL_S so that a thread rarely outlives its call."""

LOST_S = 2.0
"""Once an engine has failed to answer, cleaning up gives each further call this long: no hang after a hang."""

T = TypeVar("T")

# Its reaper would be one more image to pull, and it would take this machine for a container and publish on the bridge's gateway.
# Cleaning up is ours: by label and run folder.
testcontainers_config.ryuk_disabled = True
testcontainers_config.tc_host_override = "127.0.0.1"


def _one_line(error: BaseException) -> str:
    text = getattr(error, "explanation", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:300]


@dataclass
class Door:
    """A connection to an engine."""

    client: docker.DockerClient = field(repr=False)
    lost: bool = False
    """An earlier call was not answered in time."""

    @property
    def api(self) -> Any:
        """The plain calls. Not typed: the library's own types are missing for a third of them."""
        return self.client.api

    def call(self, what: str, work: Callable[[], T], *, seconds: float = CALL_S) -> T:
        """The outcome of `work`; `StackError` in one line if the engine refuses, breaks off, or does not answer in time."""
        bound = min(seconds, LOST_S) if self.lost else seconds
        outcome: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        Thread(target=_attempt, args=(work, outcome), name=f"docker: {what}", daemon=True).start()
        try:
            fine, value = outcome.get(timeout=bound)
        except Empty:
            self.lost = True
            raise StackError(f"Docker did not answer within {bound:g} s: {what}") from None
        if fine:
            return value  # type: ignore[no-any-return]  # it is what `work` returned
        raise self._translated(what, value) from value

    def _translated(self, what: str, error: Exception) -> Exception:
        if isinstance(error, LoudgateError):
            return error
        if _is_silence(error):
            self.lost = True
            return StackError(f"Docker did not answer in time: {what}")
        if isinstance(error, ImageNotFound):
            return EnvironmentMissing(f"an image is missing (run `loudgate stack build`): {_one_line(error)}")
        if isinstance(error, DockerException | requests.exceptions.RequestException | OSError):
            return StackError(f"Docker failed: {what}: {_one_line(error)}")
        return error

    def gone(self, what: str, work: Callable[[], object]) -> None:
        """Remove something; that it is not there any more is as good."""

        def remove() -> None:
            try:
                work()
            except NotFound:
                return
            except APIError as error:
                if error.status_code != 409 or "already in progress" not in _one_line(error):
                    raise

        self.call(what, remove)

    def close(self) -> None:
        """Give the connection back."""
        self.client.close()


def _is_silence(error: BaseException) -> bool:
    """Whether it tells of a wait that was given up; over a Unix socket the library does not call that a timeout."""
    wrapped = [error, *error.args, *(inner for one in error.args for inner in getattr(one, "args", ()))]
    return any(isinstance(one, requests.exceptions.Timeout | TimeoutError) for one in wrapped)


def _attempt(work: Callable[[], object], outcome: SimpleQueue[tuple[bool, Any]]) -> None:
    try:
        outcome.put((True, work()))
    except Exception as error:  # noqa: BLE001, RUF100 -- it is raised again where the call was made
        outcome.put((False, error))


def connect() -> Door:
    """Connect to the engine that $DOCKER_HOST or the current context names; `EnvironmentMissing` if none answers."""

    def ask() -> docker.DockerClient:
        client = DockerClient(timeout=SILENCE_S).client
        client.ping()
        return client

    outcome: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
    Thread(target=_attempt, args=(ask, outcome), name="docker: connect", daemon=True).start()
    try:
        fine, value = outcome.get(timeout=CONNECT_S)
    except Empty:
        raise EnvironmentMissing(f"no Docker engine{_where()}: no answer within {CONNECT_S:g} s") from None
    if not fine:
        raise EnvironmentMissing(f"no Docker engine{_where()}: {_reason(value)}") from value
    return Door(value)


def _where() -> str:
    chosen = os.environ.get("DOCKER_HOST", "")
    return f" at DOCKER_HOST={chosen}" if chosen else " on this machine"


def _reason(error: BaseException) -> str:
    """What the operating system said, if it said anything: the libraries wrap it three times over."""
    inner: BaseException | None = error
    while inner is not None:
        for cause in (inner, *inner.args):
            for one in (cause, *getattr(cause, "args", ())):
                if isinstance(one, OSError) and one.strerror:
                    return one.strerror
        inner = inner.__cause__ or inner.__context__
    return _one_line(error)
