"""The command line of a SeaweedFS server for one run: bounded, silent to the outside, everything but S3 on the loopback.

Its master, volume server and filer ask nobody for a password, so nothing but S3 may be reachable for tools. Starts nothing.
"""

from __future__ import annotations

BUCKET = "captures"
"""One per run, since each run has a server of its own."""

VOLUME_MIB, VOLUMES = 64, 32
"""A bucket takes seven volumes at once, and one more for each that is full: at most 2 GiB."""

MEMORY_MIB = 256
"""The server takes 110 MiB; above this it collects garbage harder."""

ANNOUNCES = "Start Seaweed S3 API Server"
"""The line of its log that says that S3 is served."""

ROLES = ("master", "volume", "filer", "s3")


def environment(key: str, secret: str) -> dict[str, str]:
    """The one identity that may do anything: without one it lets nobody make a bucket."""
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "GOMEMLIMIT": f"{MEMORY_MIB}MiB"}


def common(folder: str) -> list[str]:
    """What both ways to start it share. Without peers it is its own leader at once."""
    return [
        f"-dir={folder}",
        "-ip=127.0.0.1",
        "-master.peers=none",
        "-master.telemetry=false",
        f"-master.volumeSizeLimitMB={VOLUME_MIB}",
        f"-volume.max={VOLUMES}",
        f"-filer.localSocket={folder}/filer.sock",
        f"-s3.localSocket={folder}/s3.sock",
        "-s3.iam=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
    ]


def embedded(folder: str, ports: dict[str, int]) -> list[str]:
    """On this machine: ready in 0.7 s, all ports given. `mini` starts its parts when those before them are ready."""
    words = ["-logtostderr=true", "mini", *common(folder), "-ip.bind=127.0.0.1", "-webdav=false", "-admin.ui=false"]
    return [*words, *(f"-{role}={port}" for role, port in ports.items())]


def port_names() -> tuple[str, ...]:
    """The options of `embedded` that name a port."""
    return tuple(f"{role}.port{kind}" for role in (*ROLES, "admin") for kind in ("", ".grpc"))


def contained(folder: str, port: int) -> list[str]:
    """In a container: only S3 and its gRPC listen to others. `server` waits 2 s for its parts, but can set S3 apart."""
    words = ["-logtostderr=true", "server", *common(folder), "-ip.bind=127.0.0.1", "-filer", "-s3"]
    return [*words, "-s3.ip.bind=0.0.0.0", f"-s3.port={port}"]


def sockets(ports: dict[str, int]) -> list[str]:
    """Files that it makes outside its folder, and leaves there when it is killed."""
    return [f"/tmp/seaweedfs-{name.partition('.')[0]}-grpc-{port}.sock" for name, port in ports.items() if name.endswith(".grpc")]  # noqa: S108
