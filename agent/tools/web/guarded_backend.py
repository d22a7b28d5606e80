"""Connections that lead to public addresses only.

A name is resolved once, each of its addresses is judged, and the connection is made to one of these very addresses, so
that a name which resolves differently the next time (DNS rebinding) gains nothing.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import httpcore2

from agent.tools.port import ToolFailure

if TYPE_CHECKING:
    from threading import Event

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_OTHER_FORBIDDEN: Final = tuple(
    map(
        ipaddress.ip_network,
        ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "64:ff9b:1::/48", "100::/64"),
    )
)


def is_public(address: Address) -> bool:
    """Whether the address is on the public internet. Of one that stands for an IPv4 address, that is judged."""
    if isinstance(address, ipaddress.IPv6Address):
        teredo = address.teredo
        if embedded := address.ipv4_mapped or address.sixtofour or (teredo and teredo[1]):
            return is_public(embedded)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(address.packed[-4:]))
        if int(address) >> 32 == 0:  # ::a.b.c.d
            return False
    if address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback:
        return False
    forbidden = any(address in network for network in _OTHER_FORBIDDEN if network.version == address.version)
    return address.is_global and not forbidden


class GuardedBackend(httpcore2.NetworkBackend):
    """Connects to public addresses, and to those of the hosts that `may_be_private` names."""

    def __init__(self, deadline: float, stopped: "Event", may_be_private: Callable[[str], bool]) -> None:
        """`deadline`: by time.monotonic, the end of all reading and writing."""
        self._backend = httpcore2.SyncBackend()
        self._limit = _TimeLimit(deadline, stopped)
        self._may_be_private = may_be_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connects to the first address that answers. Raises ToolFailure where the name has one that is not public."""
        error: Exception | None = None
        for address in self._addresses(host, port):
            try:
                stream = self._backend.connect_tcp(
                    str(address), port, self._limit.seconds(timeout), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failed:
                error = failed
                continue
            return _LimitedStream(stream, self._limit)
        raise error or httpcore2.ConnectError(f"{host} has no address")

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        raise ToolFailure("Not allowed", "A socket file is no web address.")

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)

    def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ToolFailure("No such host", f"{host}: no address is known for it.") from error
        texts = dict.fromkeys(str(answer[4][0]).partition("%")[0] for answer in found)
        addresses = [ipaddress.ip_address(text) for text in texts]
        inner = [address for address in addresses if not is_public(address)]
        if inner and not self._may_be_private(host):
            raise ToolFailure(
                "Not a public address",
                f"{host} leads to {inner[0]}, which is not on the public internet.",
                "The user can name the host in tools.fetch_private_hosts.",
            )
        return addresses


class _TimeLimit:
    """The time that is left for a request; raises once it is over, or the turn is stopped."""

    def __init__(self, deadline: float, stopped: "Event") -> None:
        self._deadline = deadline
        self._stopped = stopped

    def seconds(self, wanted: float | None) -> float:
        if self._stopped.is_set():
            raise ToolFailure("Stopped", "The user stopped the turn.")
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the time is over")
        return min(left, wanted) if wanted else left


class _LimitedStream(httpcore2.NetworkStream):
    """A connection whose every read and write ends at the deadline, however slowly the server sends."""

    def __init__(self, stream: httpcore2.NetworkStream, limit: _TimeLimit) -> None:
        self._stream = stream
        self._limit = limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._limit.seconds(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._limit.seconds(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._limit.seconds(timeout))
        return _LimitedStream(secured, self._limit)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
