"""Rules on disk, in the user's own configuration folder: `permissions.yaml`, and a file for each project.

Rules for a project belong to its folder's path and identity, and never stand in the project: a cloned one brings none.
Where another folder has taken the place, its rules that allow are not in force. A file that cannot be read is a
problem: until it is repaired nothing is allowed without asking.
"""

import hashlib
import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from agent.permissions.rules import Rule, RuleSource, Verdict, parse_rule
from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from foundation.files import FileLock, LockTimeout, make_private_folder, resolve_path, write_atomically
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import config_dir
from foundation.privacy import as_given
from foundation.yaml import BadYaml, compose_yaml, construct_yaml

_LOCK_SECONDS: Final = 10
_VERDICTS: Final = tuple(verdict.value for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW))
_HEADING: Final = "# Permission rules: deny comes before ask, ask before allow. See `palimpsest permissions --help`.\n"


class BadRules(PalimpsestError):
    """A file of permission rules cannot be read."""

    code = "permissions"


class _FileRules(Struct, frozen=True):
    """The rules of one file, with the lines (from 0) on which each stands; `inode` of a project's folder."""

    rules: tuple[Rule, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()
    inode: int = 0


class RuleFile:
    """One file of rules, edited by hand and by command. Comments stay; each version before a change is kept."""

    def __init__(self, path: Path, source: RuleSource, folder: Path | None = None) -> None:
        """`folder` is the project's, None for the user's own rules."""
        self.path = path
        self._source = source
        self._folder = folder
        self._signature: object = self  # of no file: it was not read
        self._content = _FileRules()
        self.problem = ""

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules in force. Those that allow hold only in the folder for which they were made."""
        if self._folder is None or self._content.inode in {0, _inode(self._folder)}:
            return self._content.rules
        return [rule for rule in self._content.rules if rule.verdict is not Verdict.ALLOW]

    @property
    def is_of_another_folder(self) -> bool:
        """Whether the file was made for another folder at this path."""
        return self._folder is not None and self._content.inode not in {0, _inode(self._folder)}

    def refresh(self) -> None:
        """Reads the file again where it changed. A file that cannot be read has no rules, and a problem."""
        signature = _signature(self.path)
        if signature == self._signature:
            return
        self._signature = signature
        try:
            self._content, self.problem = self._read()[1], ""
        except BadRules as error:
            self._content, self.problem = _FileRules(), error.message

    def add(self, rule: Rule) -> bool:
        """Adds the rule; False where it is there already. Raises BadRules and leaves a file that cannot be read."""
        with self._locked():
            text, content = self._read()
            if self._folder is not None and content.inode not in {0, _inode(self._folder)}:
                self._keep_version(text)
                text, content = "", _FileRules()  # of another folder: its rules end here
            if rule in content.rules:
                return False
            self._write(text, self._with(text, content, rule), (*content.rules, rule))
            return True

    def remove(self, rule: Rule) -> bool:
        """Removes the rule; False where it is not there. Raises BadRules."""
        with self._locked():
            text, content = self._read()
            if rule not in content.rules:
                return False
            lines = text.splitlines(keepends=True)
            places = [place for own, place in zip(content.rules, content.lines, strict=True) if own == rule]
            for first, last in reversed(places):
                del lines[first:last]
            self._write(text, "".join(lines), tuple(own for own in content.rules if own != rule))
            return True

    def _read(self) -> tuple[str, _FileRules]:
        try:
            text = read_own_text(self.path)
        except FileNotFoundError:
            return "", _FileRules()
        except (UnreadableFile, OSError, PalimpsestError) as error:
            raise self._bad(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from error
        return text, self._parsed(text)

    def _parsed(self, text: str) -> _FileRules:
        try:
            root: Any = compose_yaml(text)
            if root is None:
                return _FileRules()
            values: Any = construct_yaml(root)
        except BadYaml as error:
            raise self._bad(error.problem, error.line) from error
        if root.id != "mapping":
            raise self._bad("it does not contain rules under deny, ask and allow", 1)
        rules, lines = list[Rule](), list[tuple[int, int]]()
        for key, section in root.value:
            if key.value in _VERDICTS and section.id == "sequence":
                for item in section.value:
                    rules.append(self._rule(Verdict(key.value), item))
                    lines.append((item.start_mark.line, max(item.end_mark.line, item.start_mark.line + 1)))
            elif key.value in _VERDICTS and section.id == "scalar" and not section.value:
                continue
            elif key.value not in {"folder", "inode", "version"} or (self._folder is None and key.value != "version"):
                raise self._bad(f"“{key.value}” is not deny, ask or allow with a list", key.start_mark.line + 1)
        inode = values.get("inode", 0)
        return _FileRules(tuple(rules), tuple(lines), inode if isinstance(inode, int) else -1)

    def _rule(self, verdict: Verdict, item: Any) -> Rule:
        line = item.start_mark.line + 1
        if item.id != "scalar":
            raise self._bad("a rule is one text; write it in quotes", line)
        try:
            return parse_rule(verdict, item.value, self._source)
        except Misuse as error:
            raise self._bad(error.message.removesuffix("."), line) from error

    def _bad(self, problem: str, line: int = 0) -> BadRules:
        where = f"{self.path}, line {line}" if line else str(self.path)
        return BadRules(
            "Permission rules",
            f"{where}: {problem}. Until it is repaired, everything needs confirmation.",
            "Repair the file, or restore a copy from the folder “versions” next to it.",
        )

    def _with(self, text: str, content: _FileRules, rule: Rule) -> str:
        """The text with the rule, after the last one of its verdict."""
        item = f"- {_quoted(rule.text)}\n"
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        same = [
            last for own, (_, last) in zip(content.rules, content.lines, strict=True) if own.verdict is rule.verdict
        ]
        if same:
            indent = re.match(r"\s*", lines[same[-1] - 1])
            lines.insert(same[-1], (indent[0] if indent else "") + item)
            return "".join(lines)
        for index, line in enumerate(lines):
            if re.match(rf"{rule.verdict}:\s*(\[\s*\]\s*)?(#.*)?$", line):
                lines[index] = f"{rule.verdict}:\n"
                lines.insert(index + 1, item)
                return "".join(lines)
        return "".join(lines or self._heading()) + f"{rule.verdict}:\n{item}"

    def _heading(self) -> list[str]:
        if self._folder is None:
            return [_HEADING]
        return [_HEADING, f"folder: {_quoted(str(self._folder))}\n", f"inode: {_inode(self._folder)}\n"]

    def _write(self, before: str, after: str, expected: tuple[Rule, ...]) -> None:
        try:
            is_right = sorted(map(str, self._parsed(after).rules)) == sorted(map(str, expected))
        except BadRules:
            is_right = False
        if not is_right:  # a layout that cannot be edited in place: written anew, the old one is kept as a version
            after = "".join(self._heading()) + "".join(_sections(expected))
        self._keep_version(before)
        make_private_folder(self.path.parent)
        write_atomically(self.path, as_given(after))
        self.refresh()

    def _keep_version(self, text: str) -> None:
        if text:
            versions = self.path.parent / "versions"
            make_private_folder(versions)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            write_atomically(versions / f"{self.path.stem}-{digest}.yaml", as_given(text))

    @contextmanager
    def _locked(self) -> Generator[None]:
        make_private_folder(self.path.parent)
        try:
            with FileLock(self.path.with_name(f"{self.path.stem}.lock"), timeout=_LOCK_SECONDS):
                yield
        except LockTimeout as error:
            message = f"Another process has held {self.path} for {_LOCK_SECONDS} s."
            raise TemporaryFailure("The rules are busy", message, "Try again.") from error


class StoredRules:
    """The rules of the user and of one project. Safe for concurrent processes; changes on disk are noticed."""

    def __init__(self, folder: Path, project: Path) -> None:
        """`folder` is the user's configuration folder."""
        project = Path(os.path.realpath(project))
        self.user = RuleFile(resolve_path(folder / "permissions.yaml"), RuleSource.USER)
        self.project = RuleFile(folder / "permissions" / _project_name(project), RuleSource.PROJECT, project)
        self.refresh()

    @property
    def problem(self) -> str:
        return self.user.problem or self.project.problem

    @property
    def rules(self) -> Sequence[Rule]:
        return (*self.user.rules, *self.project.rules)

    def refresh(self) -> None:
        self.user.refresh()
        self.project.refresh()

    def add(self, rule: Rule) -> None:
        (self.user if rule.source is RuleSource.USER else self.project).add(rule)

    def remove(self, rule: Rule) -> bool:
        """Removes the rule; whether it was there."""
        return (self.user if rule.source is RuleSource.USER else self.project).remove(rule)


def stored_rules(environment: Mapping[str, str], project: Path) -> StoredRules:
    """The user's rules, and those for the project folder."""
    return StoredRules(config_dir(environment), project)


def _project_name(project: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]", "-", project.name)[:40] or "root"
    return f"{name}-{hashlib.sha256(os.fsencode(project)).hexdigest()[:12]}.yaml"


def _inode(folder: Path) -> int:
    """The folder's identity; 1 where there is none. Devices change when a disk is mounted again; inodes do not."""
    try:
        return folder.stat().st_ino
    except OSError:
        return 1


def _signature(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _quoted(text: str) -> str:
    """The text as a YAML scalar on one line, with what cannot be seen escaped."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    letters = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in letters) + '"'


def _sections(rules: Iterable[Rule]) -> Iterable[str]:
    listed = tuple(rules)
    for verdict in _VERDICTS:
        if own := [rule for rule in listed if rule.verdict.value == verdict]:
            yield f"{verdict}:\n" + "".join(f"- {_quoted(rule.text)}\n" for rule in own)
