"""System calls of Linux that confine a process, by ctypes: namespaces, mounts, Landlock, seccomp.

Standard library alone: the supervisor runs without the program's libraries. Each function raises OSError where the
kernel refuses.
"""

import ctypes
import os
import platform
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_SECCOMP: Final = 22
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

_MOUNT_SETATTR: Final = 442  # these numbers are the same on every architecture that Python builds for today
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_ADD_RULE: Final = 445
_LANDLOCK_RESTRICT_SELF: Final = 446
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_MOUNT_ATTR_RDONLY: Final = 1

_KEPT_CAPABILITIES: Final = {0, 1, 3, 4, 5, 6, 7, 10}  # of root: files of any owner, signals, users, low ports
_LAST_CAPABILITY: Final = 63

_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_DIRECTORY: Final = 1 << 3
_DIRECTORY_WRITES: Final = sum(1 << bit for bit in range(4, 13))  # remove and make
_REFER: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_NET_TCP: Final = 0b11
_SCOPES: Final = 0b11  # abstract Unix sockets, signals
LEAST_LANDLOCK: Final = 3
"""Before this version of its interface, files anywhere can be truncated."""

_SOCKET_CALLS: Final = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}
"""AUDIT_ARCH_*, __NR_socket, __NR_socketpair."""
_IO_URING_SETUP: Final = 425
_EPERM: Final = 1


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int, what: str, third: object = 0) -> None:
    number = ctypes.c_ulong
    _check(_libc().prctl(option, number(value), third or number(0), number(0), number(0)), what)


def _syscall(number: int, *arguments: object) -> int:
    return _libc().syscall(ctypes.c_long(number), *arguments)


def become_subreaper() -> None:
    """Makes orphaned descendants children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "PR_SET_CHILD_SUBREAPER")


def die_with_parent(signal_number: int) -> None:
    """Has the kernel send the signal when the parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal_number, "PR_SET_PDEATHSIG")


def forbid_new_privileges() -> None:
    """No program gains privileges by setuid bits from now on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "PR_SET_NO_NEW_PRIVS")


def unshare(flags: int) -> None:
    """Moves this process into new namespaces."""
    _check(_libc().unshare(ctypes.c_int(flags)), "unshare")


def map_own_user(user: int, group: int) -> None:
    """Maps the user and the group of before to themselves, in a new user namespace."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def drop_capabilities() -> None:
    """Keeps of root's capabilities those on files, signals and users."""
    for capability in range(_LAST_CAPABILITY + 1):
        if capability not in _KEPT_CAPABILITIES:
            try:
                _prctl(_PR_CAPBSET_DROP, capability, "PR_CAPBSET_DROP")
            except OSError:  # no more capabilities, or none to drop
                return


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    result = _libc().mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    )
    _check(result, f"mount {target}")


def set_read_only(path: str, read_only: bool, *, below: bool) -> None:
    """Makes the mount at the path read-only or writable; `below`: with all mounts below it."""
    set_, clear = (_MOUNT_ATTR_RDONLY, 0) if read_only else (0, _MOUNT_ATTR_RDONLY)
    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", set_, clear, 0, 0))
    result = _syscall(
        _MOUNT_SETATTR,
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(_AT_RECURSIVE if below else 0),
        attributes,
        ctypes.c_size_t(32),
    )
    _check(result, f"mount_setattr {path}")


def bring_up_loopback() -> None:
    """Brings up `lo` in a new network namespace, so that tests can talk to servers of their own."""
    import fcntl
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH22x", b"lo", 0)
        flags: int = struct.unpack_from("H", fcntl.ioctl(control, 0x8913, request), 16)[0]  # SIOCGIFFLAGS
        fcntl.ioctl(control, 0x8914, struct.pack("16sH22x", b"lo", flags | 1))  # SIOCSIFFLAGS, IFF_UP


def landlock_version() -> int:
    """The version of Landlock's interface; 0 where there is none."""
    return max(_syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(1)), 0)


def restrict_files(writable: Sequence[str], readable: Sequence[str], *, network: bool) -> None:
    """Allows writes below these paths alone, and no TCP where not `network`, for this process and all that it starts.

    Without `readable` all can be read, else what is below these. Signals and abstract sockets reach the sandbox's own
    processes only, where the kernel can.
    """
    version = landlock_version()
    if version < LEAST_LANDLOCK:
        raise OSError(95, f"Landlock's version is {version}, and {LEAST_LANDLOCK} is needed")
    files = _WRITE_FILE | _TRUNCATE
    writes = files | _DIRECTORY_WRITES | _REFER
    reads = _READ_FILE | _READ_DIRECTORY if readable else 0
    handled = writes | reads
    net = 0 if network or version < 4 else _NET_TCP
    scopes = _SCOPES if version >= 6 else 0
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", handled, net, scopes)[:size], size)
    rules = _check(
        _syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint(0)), "landlock_create"
    )
    try:
        for path in writable:
            _allow(rules, path, writes, files)
        for path in readable:
            with suppress(OSError):  # removed meanwhile, or not to be entered
                _allow(rules, path, reads, _READ_FILE)
        forbid_new_privileges()
        _check(_syscall(_LANDLOCK_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint(0)), "landlock_restrict_self")
    finally:
        os.close(rules)


def _allow(rules: int, path: str, of_folder: int, of_file: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = of_folder if stat.S_ISDIR(os.fstat(descriptor).st_mode) else of_file
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, descriptor), 12)
        result = _syscall(_LANDLOCK_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint(0))
        _check(result, f"landlock_add_rule {path}")
    finally:
        os.close(descriptor)


def can_deny_sockets() -> bool:
    """Whether `deny_sockets` knows this architecture."""
    return platform.machine() in _SOCKET_CALLS


def deny_sockets(*, unix_only: bool) -> None:
    """Denies sockets, with `unix_only` those of Unix alone, and io_uring, which makes sockets past this filter.

    Pairs stay, but of datagrams: these could send to any path. The filter loads the architecture, then the number of
    the system call, then the family or the type of the socket.
    """
    architecture, socket_call, pair_call = _SOCKET_CALLS[platform.machine()]
    load, equal, at_least, masked, give = 0x20, 0x15, 0x35, 0x54, 0x06  # BPF_LD, JEQ, JGE, AND, RET
    allow, deny = 0x7FFF0000, 0x00050000 | _EPERM
    program = [
        (load, 0, 0, 4),  # seccomp_data.arch
        (equal, 0, 11, architecture),
        (load, 0, 0, 0),  # seccomp_data.nr
        (at_least, 9, 0, 0x40000000),  # the x32 calls of x86_64
        (equal, 8, 0, _IO_URING_SETUP),
        (equal, 3, 0, pair_call),
        (equal, 0, 7, socket_call),
        (load, 0, 0, 16),  # its first argument
        (equal, 4, 5 if unix_only else 4, 1),  # AF_UNIX
        (load, 0, 0, 24),  # the second argument of a pair
        (masked, 0, 0, 0xF),
        (equal, 2, 0, 1),  # SOCK_STREAM
        (equal, 1, 0, 5),  # SOCK_SEQPACKET
        (give, 0, 0, deny),
        (give, 0, 0, allow),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    forbid_new_privileges()
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, "PR_SET_SECCOMP", header)
