"""What is wrong with the versions, as sentences."""

from pathlib import Path

from msgspec import Struct

from foundation.figures import counted
from memory.versions.head import ListHead
from memory.versions.lost import Damage
from memory.versions.manifest import ManifestContent, Version, lost_end


class VersionProblem(Struct, frozen=True):
    """What is wrong with the versions, as a sentence."""

    message: str
    version: Version | None = None
    damage: Damage = Damage("", "")
    lost_since_ms: int | None = None
    """Since when a person knows that nothing mends it; None for damage that nobody was told of."""
    count: int = 1
    """How many versions it is."""


def list_problems(place: Path, content: ManifestContent, head: ListHead, head_damage: str) -> list[VersionProblem]:
    """The problems of the list at `place`: lines that cannot be read, and what is missing between them and at the end.

    `head_damage` is why its head cannot be read, "" where it can be.
    """
    problems = [VersionProblem(head_damage, damage=Damage("head", ""))] if head_damage else []
    problems += [
        VersionProblem(
            f"Line {line.number} of {place} cannot be read: its version is lost.",
            damage=Damage("line", line.sha256),
        )
        for line in content.unreadable
    ]
    problems += [
        VersionProblem(
            f"{_missing(line.lost)} from {place} before line {line.number}.",
            damage=Damage("gap", line.sha256),
            count=line.lost,
        )
        for line in content.gaps
    ]
    if missing := head.missing(content):
        message = f"{_missing(missing)} at the end of {place}, up to number {head.newest}."
        problems.append(VersionProblem(message, damage=Damage("gap", lost_end(head.newest)), count=missing))
    return problems


def _missing(count: int) -> str:
    return "A version is missing" if count == 1 else f"{counted(count, 'version')} are missing"
