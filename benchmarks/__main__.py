"""Every benchmark that needs no data of one's own, one after another: `python -m benchmarks [--json]`.

With `--json`, an object a line. `python -m benchmarks.NAME --help` has the options of each.
"""

import subprocess
import sys
from pathlib import Path

NEEDS_DATA = frozenset(
    {
        "context_quality",
        "minilm_onnx",
        "onnx_file",
        "resident",
        "retrieval",
        "scale",
        "secret_sweep",
        "summaries",
        "vector_scan",
    }
)


def main(arguments: list[str]) -> int:
    folder = Path(__file__).parent
    names = [path.stem for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")]
    failed: list[str] = []
    for name in names:
        if name in NEEDS_DATA:
            continue
        print(f"── {name}", file=sys.stderr, flush=True)
        if subprocess.call([sys.executable, "-m", f"benchmarks.{name}", *arguments], cwd=folder.parent):
            failed.append(name)
    if failed:
        print("failed:", ", ".join(failed), file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
