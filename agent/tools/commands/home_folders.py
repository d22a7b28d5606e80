"""What a sandboxed command sees of the home folder: programs and toolchains, nothing else."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from agent.tools.commands.environment import holds_secret
from foundation.files.untrusted import UnreadableFile, read_own_text

_TOOLCHAINS: Final[Mapping[str, str]] = {
    "programs": "bin .local/bin .nix-profile .local/state/nix/profile .asdf .local/share/mise",
    "Python": ".pyenv .local/lib .local/share/uv .local/share/pipx .local/pipx .rye .pixi miniconda3 anaconda3"
    " miniforge3 mambaforge .local/share/virtualenvs .virtualenvs Library/Python",
    "JavaScript": ".nvm .volta .fnm .local/share/fnm .local/share/pnpm Library/pnpm .npm-global .yarn/bin"
    " .config/yarn/global .bun/bin .bun/install .deno",
    "Rust": ".rustup .cargo/bin .cargo/registry .cargo/git .cargo/env",
    "Go": "go/bin go/pkg go/src sdk .local/go .goenv",
    "Java": ".sdkman/candidates .m2/repository .m2/wrapper .gradle/wrapper .gradle/caches .gradle/jdks .jenv .jdks"
    " Library/Java .ivy2/cache .cache/coursier .sbt/boot",
    "Ruby": ".rbenv .rvm .gem/ruby .local/share/gem/ruby",
    "PHP": ".composer/vendor .config/composer/vendor",
    ".NET": ".dotnet/sdk .dotnet/shared .dotnet/host .dotnet/dotnet .dotnet/tools .nuget/packages",
    "Haskell": ".ghcup .cabal/bin .cabal/packages .cabal/store .stack/programs .stack/snapshots",
    "Erlang, Elixir": ".mix/archives .mix/elixir .kerl .exenv",
    "Dart, Swift": ".pub-cache/hosted .pub-cache/bin flutter .swiftly .local/share/swiftly",
    "Julia, R, OCaml": ".julia/packages .julia/compiled .julia/artifacts .julia/juliaup .juliaup R .opam",
    "Perl, Lua": "perl5 .perlbrew .plenv .luarocks/lib .luarocks/share .luarocks/bin",
    "mobile": "Android/Sdk Library/Android/sdk Library/Developer/CommandLineTools",
}
"""Folders of toolchains below the home folder, without those that hold credentials."""
_SETTINGS: Final = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes",
    ".cargo/config.toml", ".tool-versions", ".config/mise/config.toml", ".editorconfig",
)  # fmt: skip
"""Files of settings; one in which a secret is found is not visible."""
_ENVIRONMENTS: Final = ("pyvenv.cfg", "conda-meta")  # in a folder whose `bin` is in PATH: its libraries belong to it


def visible_in_home(home: Path, search_path: str, more: Iterable[Path]) -> list[Path]:
    """The files and folders of the home folder that a command sees, without those in one another.

    `search_path` is PATH; `more` are further ones, of which those below the home folder count.
    """
    found = {home / name for names in _TOOLCHAINS.values() for name in names.split()}
    found |= {home / name for name in _SETTINGS if not _has_secret(home / name)}
    found |= {Path(os.path.normpath(path)) for path in (*_programs(search_path), *more)}
    existing = sorted(path for path in found if path != home and path.is_relative_to(home) and path.exists())
    return [path for path in existing if not any(other in path.parents for other in existing)]


def missed(text: str, home: Path, visible: Iterable[Path]) -> list[str]:
    """The names below the home folder, `~/.foo`, that the text mentions and that a command does not see."""
    shown, found = [*visible], dict[str, None]()
    for match in _NAME.finditer(text.replace(f"{home}/", "~/")):
        path = home / match[1]
        is_seen = any(path.is_relative_to(other) or other.is_relative_to(path) for other in shown)
        if not is_seen and os.path.lexists(path):
            found[f"~/{match[1]}"] = None
    return list(found)


_NAME: Final = re.compile(r"~/((?:(?:\.config|\.local/share|\.local|Library)/)?[\w.@+-]+)")


def _programs(search_path: str) -> Iterator[Path]:
    for name in search_path.split(os.pathsep):
        folder = Path(name)
        if folder.is_absolute():
            yield folder
            if any((folder.parent / each).exists() for each in _ENVIRONMENTS):
                yield folder.parent


def _has_secret(file: Path) -> bool:
    with suppress(FileNotFoundError):
        try:
            return any(holds_secret("settings", line) for line in read_own_text(file).splitlines())
        except (OSError, ValueError, UnreadableFile):
            return file.exists()
    return False
