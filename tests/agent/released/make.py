"""Write the workspace fixture of a released program: `python -m tests.agent.released.make CHECKOUT PYTHON`.

CHECKOUT is a checkout of that release and PYTHON an interpreter with its dependencies. The release's own command line
makes the workspace and exports it; the result is `VERSION.tar.xz` beside this file: `workspace/` and `export.jsonl`.
A fixture is history: it is written once, when its version is released, and never again.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
LINES = [
    {
        "id": "r1",
        "conversation": "trip",
        "time": "2026-03-14T09:30:00Z",
        "role": "user",
        "speaker": "Ann",
        "text": "The greenhouse key hangs behind the blue door; the code of the gate is 7-4-1-9.",
    },
    {
        "id": "r2",
        "conversation": "trip",
        "time": "2026-03-14T09:31:00Z",
        "role": "assistant",
        "speaker": "qwen",
        "text": "Noted: greenhouse key, blue door.\n\n```python\nprint('été, 钥匙, 🌱')\n```",
    },
    {
        "id": "r3",
        "conversation": "trip",
        "time": "2026-05-02T18:00:00Z",
        "role": "user",
        "speaker": "Ann",
        "text": "钥匙在蓝色的门后面。 We moved to Lisbon in May.",
    },
]
LONG = "".join(f"Line {n}: the {n * 7919 % 1000} tiles of the kitchen floor, counted twice.\n" for n in range(400))
KNOWLEDGE = (
    "# Boiler\n\nThe boiler is a Vaillant ecoTEC, last serviced on 3 February 2026.\n\n## Pressure\n\n1.5 bar.\n"
)


def main(checkout: str, python: str) -> None:
    version = next(
        line.split('"')[1]
        for line in Path(checkout, "pyproject.toml").read_text().splitlines()
        if line[:7] == "version"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run = _command(checkout, python, folder)
        (folder / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
        (folder / "long.txt").write_text(LONG, "utf-8")
        (folder / "boiler.md").write_text(KNOWLEDGE, "utf-8")
        run("init", str(folder / "workspace"))
        run("import", str(folder / "talk.jsonl"))
        run("remember", "Tea at four.")
        run("-p", "Where does the greenhouse key hang?")
        run("archive", str(folder / "long.txt"), "--label", "kitchen")
        if version != "0.1.0":
            run("knowledge", "add", str(folder / "boiler.md"))
        run("search", "greenhouse key")
        exported = run("export", "--to", "jsonl")
        (folder / "export.jsonl").write_bytes(exported)
        with tarfile.open(FOLDER / f"{version}.tar.xz", "w:xz") as tar:
            for name in ("workspace", "export.jsonl"):
                tar.add(folder / name, name, filter=_anonymous)


def _command(checkout: str, python: str, folder: Path):
    environment = {
        **os.environ,
        "PYTHONPATH": checkout,
        "PALIMPSEST_CONFIG_DIR": str(folder / "config"),
        "HOME": str(folder),
    }

    def run(*words: str) -> bytes:
        command = [python, "-m", "tui.main", "--workspace", str(folder / "workspace"), *words]
        if words[0] == "init":
            command = [python, "-m", "tui.main", *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
        sys.stderr.write(f"{' '.join(words)[:60]}: {done.returncode} {done.stderr.decode()[:300]}\n")
        if done.returncode:
            raise SystemExit(1)
        return done.stdout

    return run


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(*sys.argv[1:])
