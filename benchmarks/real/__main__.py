"""`python -m benchmarks.real FOLDER [options]`: see the package."""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.real import mending, plain, reading, report, speed, tools
from benchmarks.real.harnesses import Harness
from benchmarks.real.llama import llama, model_files
from benchmarks.real.product import Product, installed_program
from benchmarks.real.proxy import recording

PARTS = ("plain", "tools", "project", "memory", "speed")
HALVES = ("dev", "held-out")
UNSEEN = {"answer", "bare", "calls", "error"}  # of the held-out half: figures alone are kept


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    if trouble := _folder_trouble(options.folder):
        print(trouble, file=sys.stderr)
        return 2
    files = model_files(options.folder, options.models)
    if not files:
        print(f"No such GGUF file in {options.folder}.", file=sys.stderr)
        return 1
    rows: list[dict[str, Any]] = []
    for model in files:
        for part in options.parts:
            print(f"── {model.stem}: {part}", file=sys.stderr, flush=True)
            rows += measured(model, part, options)
            if options.json:
                text = json.dumps({"schema": 1, "benchmark": "real", "rows": rows}, ensure_ascii=False, indent=1)
                options.json.write_text(text, encoding="utf-8")
    print(report.tables(rows))
    return 0


def _folder_trouble(folder: Path | None) -> str:
    """What is wrong with the folder, in a sentence; "" for one that exists."""
    if folder is None:
        return "Name a folder of GGUF files: make real MODELS=FOLDER"
    return "" if folder.is_dir() else f"There is no folder {folder}."


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.real", description="The product with real small models.")
    parser.add_argument("folder", type=Path, nargs="?", help="where the GGUF files are")
    parser.add_argument("--parts", type=_names, default=list(PARTS), help=f"of {','.join(PARTS)}")
    parser.add_argument("--models", type=_names, default=[], help="beginnings of file names; all without it")
    parser.add_argument("--half", choices=HALVES, help="one half of the messages; both without it")
    parser.add_argument("--limit", type=int, default=0, help="so many messages of each half, spread over all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--window", type=int, default=8192, help="tokens of the server's window")
    parser.add_argument("--answer-tokens", type=int, default=256, help="the most tokens of an answer, for all alike")
    parser.add_argument("--program", type=Path, default=installed_program(), help="the palimpsest to measure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes every row, after each part")
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo's locomo10.json, for the part memory")
    parser.add_argument("--arms", type=_names, default=list(reading.ARMS), help="of the part memory")
    parser.add_argument(
        "--against", type=_named, action="append", default=[], metavar="NAME=COMMAND", help="another program, for tools"
    )
    options = parser.parse_args(arguments)
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}")
    return options


def measured(model: Path, part: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of one part with one model."""
    halves = [options.half] if options.half else HALVES
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        address = stack.enter_context(llama(model, context=options.window, threads=options.threads))
        recorder = stack.enter_context(recording(address, answer_tokens=options.answer_tokens))
        product = Product(options.program.resolve(), recorder, model.stem, folder)
        others = [
            Harness(name, command, f"{recorder.address}/v1", model.stem, folder / f"home-{name}")
            for name, command in options.against
        ]
        rows: list[dict[str, Any]] = []
        match part:
            case "plain":
                for half in halves:
                    rows += plain.run(product, recorder, folder, half, options.limit)
            case "tools":
                for half in halves:
                    rows += tools.run(product, others, folder, half, options.limit)
            case "project":
                rows = mending.run(product, others, folder, options.limit)
            case "memory" if options.locomo:
                arms = options.arms
                rows = reading.run(product, recorder, folder, options.locomo, options.window, options.limit, arms)
            case "speed":
                rows = speed.run(product, folder, options.limit)
            case _:
                print("left out: it needs --locomo FILE", file=sys.stderr)
    return [{"part": part, "model": model.stem, **seen(row)} for row in rows]


def seen(row: dict[str, Any]) -> dict[str, Any]:
    """The row without its answer, if it is of the held-out half."""
    return {name: value for name, value in row.items() if row.get("half") != "held-out" or name not in UNSEEN}


def _named(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("NAME=COMMAND is meant")
    return name, command


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
