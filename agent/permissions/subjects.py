"""Patterns of what an action is about: paths and addresses. Commands are judged by `command` and `denied_command`."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:/")
_SPECIAL: Final = re.compile(r"([\\*?\[\]!#]|\s$)")


def path_matches(pattern: str, path: str, *, generous: bool = False) -> bool:
    """Whether a glob, as .gitignore writes them, matches a path relative to the project: `src/**`, `*.py`, `/build`.

    `//srv/data/**` is an absolute path, as those in added folders are. `generous`, for rules that deny or ask: letters
    in any case and Unicode form, and a folder of the project also in added folders.
    """
    if generous:
        pattern, path = _folded(pattern), _folded(path)
    is_absolute = _ABSOLUTE.match(path) is not None
    path = path.lstrip("/")
    if pattern.startswith("//"):
        return is_absolute and _spec("/" + pattern.lstrip("/")).match_file(path)
    if is_absolute and not pattern.startswith("**/") and "/" in pattern.rstrip("/"):
        return generous and _spec("**/" + pattern.lstrip("/")).match_file(path)
    return _spec(pattern).match_file(path)


def exact_path(path: str) -> str:
    """The pattern that matches this path and no other."""
    return ("//" if _ABSOLUTE.match(path) else "/") + _SPECIAL.sub(r"\\\1", path.lstrip("/"))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


@lru_cache(maxsize=512)
def _spec(pattern: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([re.sub(r"^([!#])", r"\\\1", pattern)])


def address_matches(pattern: str, address: str) -> bool:
    """Whether a pattern matches an address: a host (`docs.python.org`, `*.python.org`), which stands for http and https
    on their own ports, or an address whose path may end in `*` (`https://docs.python.org/3/*`)."""
    if pattern in {"*", address}:
        return True
    wanted, given = _split(pattern if "://" in pattern else f"//{pattern}"), _split(address)
    if wanted is None or given is None or given[0] not in {"http", "https"}:
        return False
    scheme, host, port, path = wanted
    if scheme not in {"", given[0]} or port != given[2] or not _host_matches(host, given[1]):
        return False
    if path in {"", "/", "*", "/*"}:
        return "://" not in pattern or path != "/" or given[3] in {"", "/"}
    if path.endswith("*"):
        return given[3].startswith(path[:-1]) and not re.search(r"(^|/|%2f)(\.|%2e)+(/|%2f|$)", given[3], re.IGNORECASE)
    return given[3] == path


def _host_matches(wanted: str, given: str) -> bool:
    if wanted.startswith("*."):
        return given.endswith(wanted[1:]) and len(given) > len(wanted) - 1
    return given == wanted


def _split(address: str) -> tuple[str, str, int | None, str] | None:
    """Scheme, host, port (None for the scheme's own) and path with its query. None for none, or with a user in it."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.username is not None or "\\" in address or not parts.hostname:
        return None
    own = {"http": 80, "https": 443}.get(parts.scheme)
    query = f"?{parts.query}" if parts.query else ""
    return parts.scheme, parts.hostname.rstrip("."), None if port == own else port, parts.path + query
