"""What a real llama.cpp reads again, by its own figures."""

from pathlib import Path

import pytest

from benchmarks import reread

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


async def test_a_server_reads_nothing_twice(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="llama.cpp in process: no wheel for this platform")
    pytest.importorskip("tokenizers", reason="comes with mlx-lm")
    steps = await reread.measured(tmp_path, reread.tiny_model(tmp_path, 8192), 8192)
    assert [step for step in steps if not step.is_met] == []
    assert len(steps) == 12 and steps[0].read > 500
