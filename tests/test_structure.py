"""Rules for the source: a class name has one meaning, a module is named by a noun, an ignored type has a reason."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.timeout(60)  # every module is parsed

PACKAGES = ("foundation", "models", "memory", "context", "agent", "tui")
NOUNS_IN_ING = {
    "agent/queue_steering.py": "the term of chat programs: steering an answer",
    "agent/turn/steering.py": "the same",
    "foundation/text/folding.py": "Unicode's term: case folding",
    "foundation/text/stemming.py": "the term of information retrieval",
    "memory/cold/encoding.py": "a text's encoding",
    "memory/pages/symbol_coding.py": "JBIG2's term",
    "memory/pages/read/nearest/resampling.py": "the term of image processing",
    "memory/search/embedding.py": "an embedding is a vector; the embedders of a store",
    "models/chat/reasoning.py": "the models' own term: reasoning content",
    "models/chat/sampling.py": "the same: sampling parameters",
}


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def classes(source: str) -> list[str]:
    """Names of the public classes of a module, nested ones included."""
    named = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
    return [name for name in named if not name.startswith("_")]


def test_a_public_class_name_occurs_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sources():
        for name in classes(path.read_text("utf-8")):
            homes[name].append(path.relative_to(ROOT).as_posix())
    assert len(homes) > 400, "the classes were not found"
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_a_module_name_ends_in_ing_only_where_that_is_the_noun_of_the_field() -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in sources() if path.stem.endswith("ing")}
    assert modules == NOUNS_IN_ING.keys()


MOST_LINES = 400


def too_long(folders: tuple[Path, ...]) -> dict[str, int]:
    """Lines of the modules that have more than a module may."""
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(paths) > 900, "the modules were not found"
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in paths}
    return {path: count for path, count in lines.items() if count > MOST_LINES}


def test_a_module_has_at_most_four_hundred_lines() -> None:
    assert too_long(tuple(ROOT / name for name in (*PACKAGES, "tests", "benchmarks", "scripts"))) == {}


IGNORED_TYPE = re.compile(r"#\s*(?:type|pyright):\s*ignore(?:\[[^\]]*\])?(.*)")


def unexplained(source: str) -> list[str]:
    """Lines that ignore a type and give no reason after it."""
    found = ((line, IGNORED_TYPE.search(line)) for line in source.splitlines())
    return [line for line, ignored in found if ignored and not re.search(r"[A-Za-z]{2}", ignored[1])]


def test_an_ignored_type_is_followed_by_its_reason() -> None:
    assert unexplained("x = 1  # " + "type: ignore[misc]")
    assert not unexplained("x = 1  # " + "type: ignore[misc]  # a generator")
    files = [
        path
        for folder in (*PACKAGES, "tests", "scripts", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        if "ignore" in path.read_text("utf-8")
    ]
    assert len(files) > 20, "the files were not found"
    assert {
        path.relative_to(ROOT).as_posix(): lines for path in files if (lines := unexplained(path.read_text("utf-8")))
    } == {}


ONE_PLATFORM = {"fcntl", "grp", "msvcrt", "pty", "pwd", "resource", "termios", "tty", "winreg"}


def one_platform_imports(source: str) -> list[str]:
    """Modules of one platform that are imported wherever the file is: neither in a branch, a `try` nor a function."""
    modules: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
    return [module for module in modules if module.split(".")[0] in ONE_PLATFORM]


def test_a_module_that_one_platform_lacks_is_imported_in_a_branch() -> None:
    assert one_platform_imports("import os\nimport fcntl\n") == ["fcntl"]
    assert not one_platform_imports("import sys\nif sys.platform != 'win32':\n    import fcntl\n")
    found = {path.relative_to(ROOT).as_posix(): one_platform_imports(path.read_text("utf-8")) for path in sources()}
    assert {path: modules for path, modules in found.items() if modules} == {}
