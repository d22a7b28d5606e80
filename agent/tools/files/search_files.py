"""The tool `search_files`: lines of the project's files that match a regular expression.

The expression is Python's, searched line by line, with a time limit: a pattern that would take forever ends the search
and says so.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import SubjectKind, declare_tool
from agent.tools.files.concerns import is_secret
from agent.tools.files.find_files import glob_filter, search_places, walk_notes
from agent.tools.files.project import ProjectFolders, ProjectPath
from agent.tools.files.ripgrep import FEWEST_FILES, candidates, installed_ripgrep, ripgrep_expression
from agent.tools.files.text_file import MAX_FILE_BYTES, TextFile
from agent.tools.files.walk import FoundFile, ProjectWalk, Withheld, nothing_withheld, withheld_note
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument, text_argument
from foundation.files import read_bytes
from foundation.regex import PatternBudget, SafePattern, UnsafePattern
from models.messages import Tool
from models.prompts import prompt

MOST_SECONDS: Final = 10.0  # of CPU time, of all files together
MOST_SECONDS_OF_A_LINE: Final = 1.0  # a pattern that takes longer for one would take forever
MOST_SECONDS_OF_A_TEXT: Final = 0.3  # of seeking it in a whole text; one that takes longer is sought by lines alone
MOST_LINES: Final = 5_000  # that are listed; all are counted
LONGEST_LINE: Final = 400  # characters of a line that are listed, around its first match


class SearchOutcome(Struct):
    """What a search found, as it goes on."""

    lines: list[str]
    matches: int = 0
    files: int = 0
    not_searched: int = 0
    withheld: int = 0  # files left out by permission rules


class SearchFiles(UsualTool):
    """Searches files of the project by a regular expression."""

    purpose = ToolPurpose.PROJECT
    only_reads = True
    facts = declare_tool("search_files", Access.READ, SubjectKind.PATH, other_names=("Grep",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("pattern", "path", "glob")},
            "required": ["pattern"],
        },
    )

    def __init__(
        self,
        project: ProjectFolders,
        withheld: Withheld = nothing_withheld,
        *,
        ripgrep: str | None = None,
        fewest_files: int = FEWEST_FILES,
    ) -> None:
        """`ripgrep` is the program, "" for none, by default the installed one; it is asked from so many files on."""
        self._project = project
        self._withheld = withheld
        self._fewest_files = fewest_files
        self._ripgrep = ripgrep

    def action(self, arguments: dict[str, Any]) -> Action:
        pattern = string_argument(arguments, "pattern")
        _compile(pattern)
        place = search_places(self._project, arguments)[0]
        concern = self._project.reading_concern(place) if place.parts else self._project.concern
        return Action(
            tool=self.facts.name,
            access=self.facts.access,
            summary=f"search files for {pattern}",
            subject=place.shown,
            concern=concern,
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        pattern = string_argument(arguments, "pattern")
        places = search_places(self._project, arguments)
        if text_argument(arguments, "path"):
            self._project.permitted(text_argument(arguments, "path"), run)
        outcome, search = SearchOutcome([]), _Search(pattern)
        walk = ProjectWalk(self._project, run.stopped)
        withheld = self._withheld(run.action or self.action(arguments))
        named = list(self._files(walk, places, arguments, outcome))
        files = [found for found in named if not withheld(found.shown)]
        outcome.withheld = len(named) - len(files)
        for found in self._narrowed(pattern, files, run):
            if run.stopped.is_set():
                raise ToolFailure("Stopped", "The user stopped the turn.")
            search.file(found, outcome)
            if search.budget.is_spent:
                break
        return "\n".join([_heading(outcome, search.budget) + walk_notes(walk), *outcome.lines])

    def _files(
        self, walk: ProjectWalk, places: tuple[ProjectPath, ...], arguments: dict[str, Any], outcome: SearchOutcome
    ) -> Iterator[FoundFile]:
        """The files that the call names, without those of keys, unless the call names that file."""
        if len(places) == 1 and places[0].is_file:
            yield FoundFile(places[0].root, places[0].parts, places[0].shown)
            return
        glob = text_argument(arguments, "glob")
        matches = glob_filter(glob, places) if glob else None
        for found in walk.files(places):
            if matches is not None and not matches(found):
                continue
            if is_secret((*found.root.parts, *found.parts)):
                outcome.not_searched += 1
                continue
            yield found

    def _narrowed(self, pattern: str, files: list[FoundFile], run: ToolRun) -> Iterable[FoundFile]:
        """The files that may match, as far as ripgrep can tell."""
        expression = ripgrep_expression(pattern)
        if self._ripgrep is None:
            self._ripgrep = installed_ripgrep(self._project.folders)
        if not expression or not self._ripgrep or len(files) < self._fewest_files:
            return files
        kept = set[tuple[object, ...]]()
        for root in {found.root for found in files}:
            names = ["/".join(found.parts) for found in files if found.root == root]
            chosen = candidates(self._ripgrep, expression, root, names, run.stopped)
            kept.update((root, name) for name in (names if chosen is None else chosen))
        return [found for found in files if (found.root, "/".join(found.parts)) in kept]


def _compile(pattern: str) -> SafePattern:
    try:
        return SafePattern(pattern)
    except (UnsafePattern, re.error) as error:
        raise ToolFailure("Not a regular expression", f"{pattern[:200]!r}: {error}.") from error


class _Search:
    """The search of files one after another, and the time left for it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = _compile(pattern)
        self._is_plain = bool(ripgrep_expression(pattern))  # it can be sought in a whole text, before its lines
        self._whole = PatternBudget(MOST_SECONDS, MOST_SECONDS_OF_A_TEXT)
        self.budget = PatternBudget(MOST_SECONDS, MOST_SECONDS_OF_A_LINE)

    def file(self, found: FoundFile, outcome: SearchOutcome) -> None:
        """Adds the file's matching lines."""
        try:
            text = TextFile.decode(read_bytes(found.root.joinpath(*found.parts), most=MAX_FILE_BYTES))
        except OSError:  # removed, swapped, too large, or closed to this user
            text = None
        if text is None or (self._is_plain and not self._pattern.may_be_in(text.text, self._whole)):
            return
        matches, lines = 0, text.text.split("\n")
        for number, start, end in self._pattern.lines(lines if lines[-1] else lines[:-1], self.budget):
            if not matches and len(outcome.lines) < MOST_LINES:
                outcome.lines.append(found.shown)
            matches += 1
            if len(outcome.lines) < MOST_LINES:
                outcome.lines.append(f"{number + 1}: {_shown(lines[number], start, end)}")
        outcome.matches += matches
        outcome.files += bool(matches)


def _shown(line: str, start: int, end: int) -> str:
    """The line, or the part of it around the match, with how much is left out."""
    if len(line) <= LONGEST_LINE:
        return line
    begin = max(0, min(start - LONGEST_LINE // 4, len(line) - LONGEST_LINE))
    part = line[begin : begin + LONGEST_LINE]
    return f"[characters {begin + 1:,}-{begin + len(part):,} of {len(line):,}] {part}"


def _heading(outcome: SearchOutcome, budget: PatternBudget) -> str:
    lines, files = outcome.matches, outcome.files
    text = f"{lines:,} matching line{'' if lines == 1 else 's'} in {files:,} file{'' if files == 1 else 's'}"
    if lines + files > len(outcome.lines):
        text += f", the first {len(outcome.lines):,} lines of output below"
    if budget.is_spent:
        text += "; the time was used up before all was searched: simplify the pattern, or narrow `path` or `glob`"
    text += withheld_note(outcome.withheld)
    if outcome.not_searched:
        one = outcome.not_searched == 1
        files = "1 file" if one else f"{outcome.not_searched:,} files"
        how = "is searched only by its" if one else "are searched only by their"
        text += f"; {files} of keys or passwords {how} `path`"
    return text
