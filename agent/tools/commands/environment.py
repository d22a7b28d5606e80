"""The environment of a command: without keys, tokens and ways to other programs, and without pagers and colours."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from foundation.privacy import examine

_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|KEYS|TOKENS?|SECRETS?|PASS|PASSW(?:OR)?D|PASSPHRASE|PWD_FILE|CREDENTIALS?|AUTH|PAT|COOKIES?"
    r"|DSN|CONNECTION_STRING|PRIVATE|SIGNING|WEBHOOK(?:_URL)?)(?:$|_)"
    r"|(?:(?:API|ACCESS|AUTH|PRIVATE|ENCRYPTION)KEY|TOKEN|SECRET|PASSWORD|PASSWD)$",
    re.IGNORECASE,
)
_SECRET_PREFIX: Final = (
    "AWS_", "AZURE_", "GOOGLE_", "GCP_", "PALIMPSEST_", "ANTHROPIC_", "OPENAI_", "HF_TOKEN", "VAULT_", "OP_SESSION",
    "STRIPE_", "TWILIO_", "SENTRY_", "KUBE", "DOCKER_HOST", "DOCKER_AUTH", "PGPASS", "LD_AUDIT",
)  # fmt: skip
_OTHER_PROGRAMS: Final = {
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS", "GPG_AGENT_INFO"),
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "STY"),
    *("VSCODE_IPC_HOOK", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "KITTY_LISTEN_ON", "I3SOCK", "SWAYSOCK"),
}
"""By these a command could use an agent's keys, or have a program outside the sandbox act for it."""
_STARTUP: Final = {"BASH_ENV", "ENV", "PROMPT_COMMAND", "PYTHONSTARTUP", "ZDOTDIR", "PS4", "BASHOPTS", "SHELLOPTS"}
"""Shells read files, or run commands, that these name."""
_NEVER_DROPPED: Final = {"PATH", "HOME", "LANG", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "VIRTUAL_ENV", "TMPDIR"}
_MOST_EXAMINED: Final = 4_000  # characters of a value that are examined for secrets

QUIET: Final = {
    "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat", "GH_PAGER": "cat",
    "EDITOR": "false", "VISUAL": "false", "GIT_EDITOR": "false", "GIT_SEQUENCE_EDITOR": "false",
    "GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never", "PIP_NO_INPUT": "1", "DEBIAN_FRONTEND": "noninteractive",
    "NO_COLOR": "1", "CLICOLOR": "0", "FORCE_COLOR": "0", "TERM": "dumb", "COLUMNS": "120",
    "PYTHONUNBUFFERED": "1",
}  # fmt: skip
"""Nobody can answer a pager, an editor or a question for a password."""


def command_environment(environment: Mapping[str, str], kept: Iterable[str] = ()) -> dict[str, str]:
    """The environment that a command gets. `kept` are names that the person keeps all the same."""
    wanted = {name.upper() for name in kept}
    passed = {
        name: value
        for name, value in environment.items()
        if name.upper() in wanted or not (is_dropped(name) or holds_secret(name, value))
    }
    return passed | {name: value for name, value in QUIET.items() if name not in wanted}


def is_dropped(name: str) -> bool:
    """Whether a variable of this name is a secret, leads to another program, or has a shell run something."""
    upper = name.upper()
    if upper in _NEVER_DROPPED:
        return False
    return (
        upper in _OTHER_PROGRAMS
        or upper in _STARTUP
        or upper.startswith((*_SECRET_PREFIX, "BASH_FUNC_"))
        or _SECRET_NAME.search(upper) is not None
    )


def holds_secret(name: str, value: str) -> bool:
    """Whether the value looks like a secret of a known kind, or has a password in an address."""
    if name.upper() in _NEVER_DROPPED or len(value) < 8:
        return False
    return bool(_PASSWORD_IN_ADDRESS.search(value) or examine(value[:_MOST_EXAMINED]).secrets)


_PASSWORD_IN_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)
