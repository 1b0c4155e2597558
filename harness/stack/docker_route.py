"""Takes the default route out of a container. Some engines put one even into a network without a way out; without it the kernel
answers "unreachable" at once instead of asking the network for a neighbour that is not there.

The constants and the structure (rtentry) are those of Linux's net/route.h; the image has Python and no `ip`.
"""

from __future__ import annotations

from harness.errors import StackError
from harness.stack.docker_service import DockerService
from harness.stack.docker_topology import labels

_PROGRAM = """
import errno, fcntl, socket, struct
nowhere = struct.pack("=HH4s8x", socket.AF_INET, 0, bytes(4))
up_and_gateway = 0x0003
entry = struct.pack("@L16s16s16sHhLPhPLLH", 0, nowhere, nowhere, nowhere, up_and_gateway, 0, 0, 0, 0, 0, 0, 0, 0)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    try:
        fcntl.ioctl(any_socket, 0x890C, entry)  # SIOCDELRT
    except OSError as error:
        if error.errno != errno.ESRCH:  # there was none
            raise
"""


def remove_default_route(service: DockerService) -> None:
    """From a container that shares only the network and ends at once: nothing inside has the right to do or to undo it."""
    topology, door = service.topology, service.topology.door
    api = door.api

    def work() -> int:
        rights = api.create_host_config(network_mode=f"container:{service.identity}", cap_drop=["ALL"], cap_add=["NET_ADMIN"])
        name, marks = topology.name(f"{service.placement.alias}-route"), labels(topology.run_id)
        made = api.create_container(
            service.placement.image, ["python", "-c", _PROGRAM], name=name, user="0:0", host_config=rights, labels=marks
        )
        api.start(made["Id"])
        status = int(api.wait(made["Id"])["StatusCode"])
        api.remove_container(made["Id"], force=True)
        return status

    if status := door.call(f"taking the default route from {service.name}", work):
        raise StackError(f"the default route of {service.name} could not be taken away (status {status})")
