"""The object store of a run: SeaweedFS in a container of its own, for the captures that workers write and stores read.

It stands on the services' network alone. Services reach its S3 port through the observer's relay: tools stand on a network with the
observer too, and the server also has a port (the gRPC of S3) where anybody may add a key. Whoever has no key gets nothing from the
S3 port, and a tool cannot read its worker's key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.seeds import token
from harness.stack import images, s3, seaweed
from harness.stack.assembly import OBJECTS, SHARED
from harness.stack.docker_service import MIB, Confinement, DockerService, Placement
from harness.stack.docker_topology import INNER, Topology
from harness.stack.service import ServiceSpec

PORT = 8333
DATA = "/data"
DATA_BYTES = 512 * MIB
"""A capture of a case has a few hundred bytes; on a tmpfs, so it counts as memory."""

SERVER_BYTES = DATA_BYTES + 512 * MIB


@dataclass
class Objects:
    """The object store of a run."""

    service: DockerService
    key: str = field(repr=False)
    secret: str = field(repr=False)
    ready: bool = False

    @property
    def name(self) -> str:
        """As reports call it."""
        return f"seaweedfs {images.SEAWEEDFS}"

    @property
    def address(self) -> str:
        """Base URL for the observer, which is on its network."""
        return f"http://{self.service.placement.alias}:{PORT}"

    def environment(self, at: str) -> dict[str, str]:
        """By which somebody finds it at that base URL."""
        return s3.environment(at, seaweed.BUCKET, self.key, self.secret)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Everything that must not reach a file."""
        return self.key, self.secret

    def write_once(self, beside: DockerService) -> None:
        """The first write is slow, and must not be a case's: from a container with the harness's code."""
        if not self.ready:
            beside.execute(["python", "-m", s3.__name__], "10001:10001", self.environment(self.address))
            self.ready = True


def objects_server(image: str, topology: Topology, logs: Path) -> Objects:
    """The server, not started yet."""
    key, secret = token(), token()
    spec = ServiceSpec(OBJECTS, SHARED, "", (), {"HOME": "/tmp", **seaweed.environment(key, secret)})  # noqa: S108 -- the container's
    placement = Placement(
        image=image,
        alias=OBJECTS,
        command=("weed", *seaweed.contained(DATA, PORT)),
        volumes={},
        confinement=Confinement(
            memory_bytes=SERVER_BYTES,
            tmpfs={DATA: f"size={DATA_BYTES},mode=1777,nosuid,nodev", "/tmp": "size=16m,mode=1777,nosuid,nodev"},  # noqa: S108
        ),
        networks=(INNER,),
        port=PORT,
        announces=seaweed.ANNOUNCES,
        stop_s=0,
    )
    return Objects(DockerService(spec, placement, topology, logs / f"{SHARED}-{OBJECTS}.log"), key, secret)
