"""A command in the sandbox sees nothing of the home folder but toolchains and what belongs to the project."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.commands.home_folders import missed, visible_in_home
from agent.tools.commands.sandbox import SandboxKind
from tests.agent.tools.commands.conftest import Confined, run
from tests.paths import ROOT

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's")

KEYS = [
    *(".ssh/id_ed25519", ".aws/credentials", ".gnupg/secring.gpg", ".kube/config", ".netrc", ".bash_history"),
    *(".config/BraveSoftware/Brave/Cookies", ".config/microsoft-edge/Cookies", ".config/vivaldi/Cookies"),
    *(".config/opera/Cookies", ".local/share/fish/fish_history", ".claude/.credentials.json", ".codex/auth.json"),
    *(".vault-token", ".terraform.d/credentials.tfrc.json", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json", ".s3cfg", ".boto"),
    *(".config/containers/auth.json", ".config/doctl/config.yaml", ".fly/config.yml", ".my.cnf", ".condarc"),
    *(".electrum/wallets/w", ".bitcoin/wallet.dat", ".config/Signal/config.json", ".config/Slack/Cookies"),
    *(".config/Bitwarden/data.json", ".Xauthority", ".pub-cache/credentials.json", ".docker/config.json"),
    *(".dotnet/corefx/cryptography/x509", "Documents/taxes.pdf", "other-project/.env", ".unknown/token"),
]
TOOLS = [
    *(".pyenv/versions/3/bin/python", ".cargo/bin/cargo", ".rustup/toolchains/x/bin/rustc", ".nvm/versions/node/x"),
    *("go/pkg/mod/x/a.go", ".m2/repository/a.jar", ".local/bin/tool", ".gem/ruby/3/a.rb", ".gitconfig", "own/bin/x"),
]


@pytest.fixture
def real_home() -> Iterator[Path]:
    """A home folder that is not below /tmp, which a sandbox covers anyway."""
    if ROOT.is_relative_to(tempfile.gettempdir()):
        pytest.skip("this checkout is itself in the temporary folder")
    with tempfile.TemporaryDirectory(prefix=".test-home-", dir=ROOT) as folder:
        yield Path(folder) / "ann"


def fill(home: Path, names: list[str]) -> None:
    for name in names:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"canary {name}\n")


@pytest.fixture
def seen(confined: Confined, real_home: Path, project: Path) -> str:
    """What a command could read of a home folder with everything in it."""
    letters = random.Random(11)
    unknown = ["." + "".join(letters.choices("abcdefgh", k=6)) + f"/{number}/token" for number in range(40)]
    fill(real_home, [*KEYS, *TOOLS, *unknown])
    path = f"{real_home}/own/bin:{os.environ['PATH']}"
    commands = confined(home=real_home, environment={"PATH": path, "HOME": str(real_home)})
    return run(
        commands,
        f"cat $(find {real_home} -type f) {' '.join(f'~/{name}' for name in (*KEYS, *TOOLS, *unknown))}",
        seconds=20,
    )


@linux
def test_a_command_reads_toolchains_and_no_key(seen: str) -> None:
    assert [name for name in TOOLS if f"canary {name}\n" not in seen] == []
    assert [line for line in seen.splitlines() if line.startswith("canary") and line[7:] not in TOOLS] == []


@linux
def test_the_home_folder_cannot_be_written_nor_uncovered(
    confined: Confined, kind: SandboxKind, real_home: Path
) -> None:
    fill(real_home, [*KEYS, *TOOLS])
    commands = confined(home=real_home)
    attempts = (
        "touch ~/x; mkdir ~/y; echo x > ~/.gitconfig; echo x > ~/.cargo/bin/cargo; umount -l ~; mount --bind / /mnt;"
    )
    attempts += "unshare -Urm sh -c 'umount -l ~; cat ~/.netrc'; cat /proc/1/root$HOME/.netrc /proc/*/root$HOME/.netrc"
    assert "canary" not in run(commands, attempts)
    assert not (real_home / "x").exists() and not (real_home / "y").exists()
    assert (real_home / ".gitconfig").read_text() == "canary .gitconfig\n"


@linux
def test_a_project_in_the_home_folder_works_and_sees_its_repository(
    real_home: Path, kind: SandboxKind, confined: Confined, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(real_home, [*KEYS, "code/other/secret"])
    top = real_home / "code/repository"
    subprocess.run(["git", "init", "-q", top], check=True)
    shutil.rmtree(project)
    (top / "packages/a").mkdir(parents=True)
    (top / "root.txt").write_text("canary root\n")
    project.symlink_to(top / "packages/a")
    (real_home / ".gitconfig").write_text("[user]\n\tname = a\n\temail = a@example.org\n")
    commands = confined(home=real_home, environment={"HOME": str(real_home)})
    told = run(commands, "echo x > made; git status --short; cat ../../root.txt; cat ~/code/other/secret; ls -A ~/code")
    assert (top / "packages/a/made").exists()
    assert "?? ../" in told
    assert "canary root" in told
    assert "canary code" not in told


@linux
def test_what_was_not_seen_is_named(confined: Confined, real_home: Path) -> None:
    fill(real_home, [".foo/settings", ".config/bar/a", "code/x"])
    commands = confined(home=real_home, environment={"HOME": str(real_home)})
    told = run(commands, "cat ~/.foo/settings ~/.config/bar/a ~/.none; true")
    assert "~/.foo, ~/.config/bar are not visible in the sandbox; the user shows a folder with /add-dir" in told
    assert ".none" not in told.partition("\n")[0]
    assert "not visible" not in run(commands, "echo ~/.none; cat made")


def test_a_file_of_settings_with_a_secret_is_not_visible(tmp_path: Path) -> None:
    fill(tmp_path, [".gitconfig", ".cargo/config.toml"])
    names = {str(path.relative_to(tmp_path)) for path in visible_in_home(tmp_path, "", [])}
    assert names == {".gitconfig", ".cargo/config.toml"}
    (tmp_path / ".gitconfig").write_text('[url "https://ann:hunter2secret@example.org"]\n\tinsteadOf = x\n')
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    (tmp_path / ".cargo/config.toml").write_text(f'[registries.a]\ntoken = "{token}"\n')
    assert visible_in_home(tmp_path, "", []) == []


def test_programs_in_path_are_visible_with_their_environment(tmp_path: Path) -> None:
    fill(tmp_path, ["tools/bin/x", "env/bin/python", "env/pyvenv.cfg", ".fly/bin/fly", ".fly/config.yml"])
    search = os.pathsep.join(
        map(str, (tmp_path / "tools/bin", tmp_path / "env/bin", tmp_path / ".fly/bin", tmp_path, "x"))
    )
    assert visible_in_home(tmp_path, search, []) == [tmp_path / name for name in (".fly/bin", "env", "tools/bin")]


def test_only_what_is_there_and_not_seen_is_missed(tmp_path: Path) -> None:
    fill(tmp_path, [".a/x", ".b/x", ".config/c/x"])
    assert missed(f"{tmp_path}/.a/x: no\n'~/.b/x' ~/.d", tmp_path, [tmp_path / ".b"]) == ["~/.a"]
    assert missed("open ~/.config/c: no", tmp_path, []) == ["~/.config/c"]
