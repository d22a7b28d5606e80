"""`provider:name[@address]`: how a person names a model."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from foundation.errors import Misuse

PROVIDERS = ("offline", "openai", "ollama", "lmstudio", "llamacpp", "anthropic", "mlx")
VARIABLES = frozenset(f"PALIMPSEST_{provider.upper()}_KEY" for provider in PROVIDERS) | {"PALIMPSEST_DETECT"}
"""Variables of the environment that this room reads itself, and that are no settings."""
FORMS = (
    "A model is named as provider:name[@address]: `offline`, `openai:qwen3@http://127.0.0.1:8080/v1`, "
    "`ollama:llama3.2`, `lmstudio:qwen3-8b`, `llamacpp:default`, `anthropic:claude-sonnet-4-5`, "
    "`mlx:mlx-community/Qwen3-4B-4bit`."
)
_DEFAULT_ADDRESS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "anthropic": "https://api.anthropic.com",
}
_ADDRESS_VARIABLE = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "ollama": "OLLAMA_HOST"}


class Spec(Struct, frozen=True):
    """A model's name, taken apart. `address` is "" where the provider's own is meant."""

    provider: str
    name: str
    address: str = ""

    def __str__(self) -> str:
        if self.provider == "offline":
            return "offline"
        return f"{self.provider}:{self.name}" + (f"@{self.address}" if self.address else "")


def parse_spec(text: str) -> Spec:
    """Take `provider:name[@address]` apart. Raises Misuse with a sentence where it is no such thing."""
    text = text.strip()
    if text == "offline":
        return Spec("offline", "offline")
    provider, colon, rest = text.partition(":")
    if not colon or provider not in PROVIDERS or provider == "offline":
        raise Misuse("No such model", f"`{text}` does not name a model.", FORMS)
    if provider == "mlx":
        return Spec("mlx", _named(text, rest))
    name, address = _split_address(rest)
    return Spec(provider, _named(text, name), _checked(text, address) if address else "")


def _split_address(rest: str) -> tuple[str, str]:
    """The last `@` that is followed by something like an address; names may hold an @ themselves."""
    marked = re.search(r"@(https?://.*)$", rest)
    if marked:
        return rest[: marked.start()], marked[1]
    name, at, address = rest.rpartition("@")
    looks_like_one = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d+)?(/.*)?", address) and re.search(
        r"[.:]|^localhost", address
    )
    return (name, address) if at and looks_like_one else (rest, "")


def _named(text: str, name: str) -> str:
    if not name.strip():
        raise Misuse("Which model?", f"`{text}` names a provider and no model.", FORMS)
    return name.strip()


def _checked(text: str, address: str) -> str:
    parts = urlsplit(with_scheme(address))
    try:
        port_is_one = parts.port is None or 0 < parts.port < 65536
    except ValueError:
        port_is_one = False
    if not parts.hostname or not port_is_one:
        raise Misuse("No such address", f"`{address}` in `{text}` is not an address.", FORMS)
    if parts.username or parts.password:
        raise Misuse(
            "A key in an address",
            f"The address of `{parts.hostname}` carries a name or a password, and would be shown and stored.",
            "Set the key in the environment: PALIMPSEST_OPENAI_KEY, or the provider's own variable.",
        )
    return address


def with_scheme(address: str) -> str:
    """`http://` before a machine of one's own, `https://` before any other that came without."""
    if "://" in address:
        return address
    host = urlsplit(f"//{address}").hostname or ""
    return ("http://" if _is_near(host) else "https://") + address


def _is_near(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith(".local")


def is_loopback(address: str) -> bool:
    """Whether what is sent there stays on this machine."""
    host = urlsplit(with_scheme(address)).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def address_of(spec: Spec, env: Mapping[str, str]) -> str:
    """Where the model's API is: the spec's address, else the environment's, else the provider's own.

    Without a trailing slash; OpenAI-compatible ones with their `/v1`.
    """
    address = spec.address or env.get(_ADDRESS_VARIABLE.get(spec.provider, ""), "") or _DEFAULT_ADDRESS[spec.provider]
    parts = urlsplit(with_scheme(address))
    host = "127.0.0.1" if parts.hostname == "0.0.0.0" else (parts.hostname or "")  # OLLAMA_HOST may say so
    default_port = 11434 if spec.provider == "ollama" and not parts.path.strip("/") and parts.scheme == "http" else None
    port = parts.port or default_port
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    path = parts.path.rstrip("/")
    if not path and spec.provider != "anthropic":
        path = "/v1"
    return f"{parts.scheme}://{netloc}{path}"


def key_of(spec: Spec, env: Mapping[str, str]) -> str:
    """The provider's key, from the environment alone.

    `PALIMPSEST_<PROVIDER>_KEY` goes wherever the spec points. The provider's own variable (OPENAI_API_KEY,
    ANTHROPIC_API_KEY) goes only to the provider's own address, to what its own variable names, or to this machine:
    a key for one company is not shown to another.
    """
    ours = env.get(f"PALIMPSEST_{spec.provider.upper()}_KEY", "")
    if ours or spec.provider not in {"openai", "anthropic"}:
        return ours
    address = address_of(spec, env)
    at_home = address == address_of(Spec(spec.provider, spec.name), env) or (
        urlsplit(address).hostname == urlsplit(_DEFAULT_ADDRESS[spec.provider]).hostname
    )
    if at_home or is_loopback(address):
        return env.get(f"{spec.provider.upper()}_API_KEY", "")
    return ""
