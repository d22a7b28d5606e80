"""Starts llama.cpp on a model of the folder, in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


def model_files(folder: Path, names: list[str]) -> list[Path]:
    """The GGUF files of the folder, smallest first; with `names` those whose name begins with one of them."""
    files = sorted(folder.glob("*.gguf"), key=lambda path: path.stat().st_size)
    return [path for path in files if not names or any(path.stem.startswith(name) for name in names)]


@contextmanager
def llama(model: Path, *, context: int, threads: int, parallel: int = 1) -> Iterator[str]:
    """The address of a server on this model, `http://127.0.0.1:PORT`; it ends with the block."""
    options = ["--context", str(context), "--threads", str(threads), "--parallel", str(parallel)]
    command = [sys.executable, "-m", "benchmarks.real.serve", str(model.resolve()), *options]
    server = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdin and server.stdout
    try:
        while line := server.stdout.readline():
            if line.startswith("http"):
                break
        else:
            raise RuntimeError(f"llama.cpp ended with {server.wait()} on {model.name}")
        yield line.strip()
    finally:
        server.stdin.close()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()
