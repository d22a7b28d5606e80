"""Prints the sentences that a user may see: `python -m scripts.sentences [FOLDER …]`, to be read whole.

They are the string literals of two words or more outside docstrings, with `{…}` for what is put in, and the text of
`--help`. Literals of patterns, SQL and prompts are left out.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("agent", "tui", "context", "memory", "models", "foundation")
_WORDS = re.compile(r"[A-Za-z…]{2,}[ ,.:;·—-]+[A-Za-z…{]")
_SQL = r"^\s*(?:select|insert|update|delete|create|pragma|begin|with) "
_NO_SENTENCE = re.compile(_SQL + r"|\\[bdswS]|\(\?|^[\w./*-]+$", re.IGNORECASE)


def main(folders: list[str]) -> None:
    for folder in folders or PACKAGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = list(sentences(ast.parse(path.read_text("utf-8"))))
            if lines:
                print(f"\n# {path.relative_to(ROOT).as_posix()}")
            for number, text in lines:
                print(f"{number}: {text}")


def sentences(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the text of each sentence, in order."""
    docstrings = {id(node) for node in _docstrings(tree)}
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | docstrings:
            text = node.value
        else:
            continue
        if _WORDS.search(text) and not _NO_SENTENCE.search(text):
            found.append((node.lineno, text.replace("\n", "⏎")))
    yield from sorted(found)


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """Strings that stand alone. Those of commands are the text of `--help`, and are not among them."""
    commands = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_command(node))
    kept = {id(node.body[0]) for node in commands}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and id(node) not in kept:
            value = node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def _is_command(node: ast.FunctionDef) -> bool:
    return any("command" in ast.unparse(decorator) for decorator in node.decorator_list)


if __name__ == "__main__":
    main(sys.argv[1:])
