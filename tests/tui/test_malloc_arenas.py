"""The limit of the allocator's heaps, in a process of its own: threads that allocate get none each."""

import platform
import subprocess
import sys

import pytest

from tests.paths import ROOT

PROGRAM = """
import sys, threading
from tui.malloc_arenas import limit_arenas
if sys.argv[1] == "limited":
    limit_arenas()
together = threading.Barrier(8)
kept = []
def allocate():
    together.wait()
    kept.append([bytes(2_000 + number) for number in range(2_000)])
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
heaps = 0
for line in open("/proc/self/maps"):
    start, access = int(line.split("-")[0], 16), line.split()[1]
    heaps += access == "rw-p" and start % (64 << 20) == 0 and len(line.split()) == 5
print(heaps)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the limit is glibc's")
def test_threads_share_the_heaps_of_the_allocator() -> None:
    def heaps(way: str) -> int:
        command = [sys.executable, "-c", PROGRAM, way]
        return int(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)

    assert heaps("limited") <= 2 < heaps("unlimited")
