"""A fuse kills the process at its call, whatever becomes of the call."""

import os
import signal
from pathlib import Path

import pytest

from tests.faults import Fuse

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="what is killed is a fork of this process")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("path", [os.devnull, f"{os.devnull}/none"])
def test_it_burns_at_its_call_also_where_that_fails(path: str, after: bool) -> None:
    child = os.fork()
    if not child:
        try:
            fuse = Fuse(2, after=after)
            fuse.around(int)
            fuse.around(lambda: Path(path).stat())
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
