"""Whether a command prints what came from the network: text that strangers may have written.

A command line is read as for a rule that denies: quotes, paths, `sudo`, `env`, `xargs`, `sh -c` and substitutions are
seen through. What the files that it runs do is not known: a script, a Makefile, a build that fetches what it needs.
"""

import re
from typing import Final

from agent.permissions.command import PatternWords
from agent.permissions.denied_command import has_words, run_commands
from agent.permissions.programs import INTERPRETERS, program_name

_ALWAYS: Final = frozenset(
    {
        *("curl", "wget", "aria2c", "http", "https", "xh", "httpie", "lynx", "w3m", "links", "elinks", "nc", "ncat"),
        *("netcat", "socat", "websocat", "grpcurl", "telnet", "ftp", "sftp", "lftp", "ssh", "mosh", "scp", "rsync"),
        *("rclone", "sshfs", "s3cmd", "yt-dlp", "youtube-dl", "hf", "huggingface-cli", "dig", "drill", "whois", "host"),
        *("nslookup", "gh", "glab", "aws", "gcloud", "gsutil", "az", "oci", "doctl", "heroku", "flyctl", "vercel"),
        *("netlify", "wrangler", "firebase", "supabase", "kubectl", "oc", "helm", "terraform", "tofu", "pulumi"),
        *("ansible", "ansible-playbook", "vault", "docker", "docker-compose", "podman", "nerdctl", "skopeo", "crane"),
        *("oras", "svn", "cvs", "fetchmail", "npx", "pnpx", "bunx", "uvx", "pipx", "apt", "apt-get", "aptitude", "dnf"),
        *("yum", "zypper", "pacman", "apk", "emerge", "brew", "snap", "flatpak", "nix", "nix-shell", "nix-env", "guix"),
        *("choco", "scoop", "winget", "conda", "mamba", "micromamba", "cpan", "cpanm", "invoke-webrequest", "iwr"),
    }
)
"""Programs whose output is taken to be from the network, whatever their arguments."""

_NODE: Final = ("install", "i", "ci", "add", "update", "up", "upgrade", "view", "info", "show", "search", "audit")
_NODE_RUNS: Final = ("outdated", "exec", "x", "dlx", "init", "create", "publish", "fetch", "import")
_SUBCOMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "git": ("clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote", "archive --remote", "lfs", "svn"),
    "hg": ("clone", "pull", "incoming", "outgoing", "identify"),
    "pip": ("install", "download", "wheel", "search", "index", "list --outdated", "list -o"),
    "uv": (
        *("pip install", "pip sync", "pip compile", "add", "sync", "lock", "tool", "python", "publish", "self"),
        *("run --with", "run --with-requirements"),
    ),
    "poetry": ("add", "install", "update", "lock", "search", "publish", "self"),
    "pdm": ("add", "install", "update", "lock", "sync", "search", "publish"),
    "pipenv": ("install", "update", "lock", "sync"),
    "npm": (*_NODE, *_NODE_RUNS),
    "pnpm": (*_NODE, *_NODE_RUNS),
    "yarn": (*_NODE, *_NODE_RUNS, "npm"),
    "bun": (*_NODE, *_NODE_RUNS),
    "corepack": ("install", "prepare", "use", "up"),
    "deno": ("add", "install", "cache", "update", "outdated", "publish"),
    "cargo": ("add", "install", "fetch", "update", "search", "info", "publish", "binstall", "owner"),
    "rustup": ("install", "update", "toolchain", "component", "target", "self"),
    "go": ("get", "install", "mod download", "mod tidy", "mod why", "list -u"),
    "gem": ("install", "update", "fetch", "search", "info", "outdated", "push", "list -r", "list --remote"),
    "bundle": ("install", "update", "add", "outdated", "lock"),
    "composer": ("install", "update", "require", "create-project", "search", "show -a", "outdated", "audit"),
    "mvn": ("dependency:get", "dependency:resolve", "versions:display-dependency-updates"),
    "dotnet": ("restore", "add", "tool"),
    "nuget": ("install", "restore", "list", "search"),
    "ollama": ("pull", "push", "run"),
    "mix": ("deps.get", "deps.update", "hex.info", "hex.search"),
    "cabal": ("update", "install", "get", "fetch"),
    "opam": ("install", "update", "upgrade"),
    "openssl": ("s_client",),
    "dvc": ("pull", "fetch", "get", "import"),
}
"""Programs with the subcommands, and options of these, by which they read from the network."""

_NOT_LANGUAGES: Final = frozenset(
    {
        *("awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb", "lldb", "bc"),
        *("m4", "make", "gmake", "cmd"),
    }
)
_ADDRESS: Final = re.compile(r"(?:https?|ftps?|wss?)://|/dev/(?:tcp|udp)/", re.IGNORECASE)
_SOCKET_FILE: Final = re.compile(r"/dev/(?:tcp|udp)/")
_WORDS_TOO: Final = {"http", "https", "host", "links", "snap", "vault"}
_NAMES: Final = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(_ALWAYS - _WORDS_TOO)))})(?![\w.-])")


def fetches(command: str) -> bool:
    """Whether what the command prints may be from the network.

    Where part of the line cannot be read, an address or a program's name anywhere in it counts.
    """
    if _SOCKET_FILE.search(command):
        return True
    commands, is_known = run_commands(command)
    if not is_known and (_ADDRESS.search(command) or _NAMES.search(command)):
        return True
    return any(map(_reads_network, commands))


def _reads_network(command: tuple[str, ...]) -> bool:
    name = program_name(command[0])
    if name in _ALWAYS:
        return True
    if name.rstrip("0123456789.") in {"python", "pypy", "py"} and "-m" in command[:-1]:
        return _reads_network(command[command.index("-m") + 1 :])
    if name in INTERPRETERS - _NOT_LANGUAGES and any(_ADDRESS.search(word) for word in command[1:]):
        return True
    if name == "yarn" and not any(not word.startswith("-") for word in command[1:]):
        return True  # installs
    if name == "go" and any(re.fullmatch(r"[\w.-]+\.[\w.-]+/[^\s@]+@[^\s@]+", word) for word in command[2:]):
        return True  # go run MODULE@VERSION
    patterns = (PatternWords((name, *words.split()), True, False) for words in _SUBCOMMANDS.get(name, ()))
    plain = tuple(word for word in command if not word.startswith("+"))  # cargo +nightly install
    return any(has_words(pattern, plain) for pattern in patterns)
