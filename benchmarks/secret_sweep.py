"""How many files of a folder `clear` takes secrets out of, or private spans: on files without any, false positives.

python -m benchmarks.secret_sweep [--json] FOLDER...
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from foundation.privacy import Source, examine

LARGEST = 3_000_000  # bytes


def texts(root: Path) -> Iterator[tuple[Path, str]]:
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(folder, name)
            try:
                if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
                    continue
                text = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if "\0" not in text:
                yield path, text


def sweep(root: Path) -> dict[str, object]:
    files = characters = private = hidden = 0
    rules: Counter[str] = Counter()
    hits: list[str] = []
    began = time.perf_counter()
    for path, text in texts(root):
        files += 1
        characters += len(text)
        findings = examine(text, Source.OTHER)
        private += findings.private > 0
        hidden += findings.unclosed > 0
        if findings.secrets:
            hits.append(str(path))
            rules.update(secret.rule for secret in findings.secrets)
    seconds = time.perf_counter() - began
    return {
        "folder": str(root), "files": files, "characters": characters, "files_with_secrets": len(hits),
        "files_with_private_spans": private, "files_cut_off": hidden, "rules": dict(rules.most_common()),
        "hits": hits, "characters_a_second": round(characters / max(seconds, 1e-9)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [sweep(folder) for folder in given.folders]
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'folder':40} {'files':>7} {'characters':>12} {'secrets':>8} {'private':>8} {'cut off':>8}")
    for row in rows:
        counts = (row[name] for name in ("files_with_secrets", "files_with_private_spans", "files_cut_off"))
        print(f"{row['folder']!s:40} {row['files']:>7} {row['characters']:>12}", *(f"{count:>8}" for count in counts))


if __name__ == "__main__":
    main()
