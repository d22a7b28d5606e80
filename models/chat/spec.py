"""`provider:name[@address]`: how a user names a model."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from foundation.errors import Misuse
from foundation.keys import StoredKeys, clean_key

PROVIDERS = ("offline", "openai", "ollama", "lmstudio", "llamacpp", "anthropic", "mlx")
DETECT_VARIABLE = "PALIMPSEST_DETECT"
"""Where servers are looked for, instead of their usual ports; `off` for nowhere."""
VARIABLES = frozenset(f"PALIMPSEST_{provider.upper()}_KEY" for provider in PROVIDERS) | {DETECT_VARIABLE}
"""Variables of the environment that this room reads itself, and that are no settings."""
FORMS = (
    "A model is named as provider:name[@address]: `offline`, `openai:qwen3@http://127.0.0.1:8080/v1`, "
    "`ollama:llama3.2`, `lmstudio:qwen3-8b`, `llamacpp:default`, `anthropic:claude-sonnet-4-5`, "
    "`mlx:mlx-community/Qwen3-4B-4bit`."
)
DEFAULT_ADDRESS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "anthropic": "https://api.anthropic.com",
}
_ADDRESS_VARIABLE = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "ollama": "OLLAMA_HOST"}
_SCHEME = re.compile(r"@[A-Za-z][A-Za-z0-9+.-]*:/")
_VERSION = re.compile(r"[0-9][\w-]*")
_WORD = re.compile(r"[\w-]+")
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.?")


class ModelSpec(Struct, frozen=True):
    """A parsed model name. `address` is "" for the provider's own."""

    provider: str
    name: str
    address: str = ""

    def __str__(self) -> str:
        if self.provider == "offline":
            return "offline"
        return f"{self.provider}:{self.name}" + (f"@{self.address}" if self.address else "")


def parse_spec(text: str) -> ModelSpec:
    """Parses `provider:name[@address]`. Raises Misuse with a sentence for anything else."""
    text = text.strip()
    if text == "offline":
        return ModelSpec("offline", "offline")
    provider, colon, rest = text.partition(":")
    if not colon or provider not in PROVIDERS or provider == "offline":
        raise Misuse("No such model", f"`{text}` does not name a model.", FORMS)
    if provider == "mlx":
        return ModelSpec("mlx", _named(text, rest))
    if rest.endswith("@"):
        raise Misuse("Which address?", "There is no address after the last `@`.", FORMS)
    name, address = _split_address(rest)
    return ModelSpec(provider, _named(text, name), _checked(address) if address else "")


def _split_address(rest: str) -> tuple[str, str]:
    """The name and the address, which is "" where none is given.

    An address is what follows the first `@` with a scheme behind it, else the last `@`. What follows an `@` is part
    of the name only where it is a plain word that begins with a digit, as versions do (`m@2024`): were a mistyped
    address taken for a name, the conversation would go to the provider's own server instead.
    """
    marked = _SCHEME.search(rest)
    if marked:
        return rest[: marked.start()], rest[marked.start() + 1 :]
    name, at, address = rest.rpartition("@")
    if not at or _VERSION.fullmatch(address):
        return rest, ""
    if _WORD.fullmatch(address) and address != "localhost":
        raise Misuse(
            "No such address",
            f"`{address}` after the `@` may be a host or part of the name.",
            f"For a host, write `@http://{address}:8080/v1`. For a name that contains an @, add the address after it.",
        )
    return name, address


def _named(text: str, name: str) -> str:
    if not name.strip():
        raise Misuse("Which model?", f"`{text}` names a provider but no model.", FORMS)
    return name.strip()


def _checked(address: str) -> str:
    """The address, its scheme in lower case. Raises Misuse for an address that cannot be reached."""
    scheme, separator, rest = address.partition("://")
    if separator:
        address = f"{scheme.lower()}://{rest}"
    try:
        parts = urlsplit(with_scheme(address))
        host, named = parts.hostname or "", parts.username or parts.password
        port_is_one = parts.port is None or 0 < parts.port < 65536
    except ValueError:  # a port that is no number, brackets that are not closed
        host, named, port_is_one = "", "@" in address, False
    if named:
        raise Misuse(
            "A key in an address",
            f"The address of `{host}` contains a user name or a password, which would be shown and stored.",
            "Put the key into the environment instead: PALIMPSEST_OPENAI_KEY, or the provider's own variable.",
        )
    known = not separator or scheme.lower() in {"http", "https"}
    blank = any(character.isspace() or not character.isprintable() for character in address)
    if not (known and port_is_one and not blank and _is_host(host)) or host in {"http", "https"}:
        raise Misuse(
            "No such address",
            f"`{address}` after the `@` is not the address of a server.",
            "An address starts with http:// or https://, for example `@http://127.0.0.1:8080/v1`.",
        )
    return address


def _is_host(host: str) -> bool:
    return bool(_HOST.fullmatch(host)) or _is_ip(host)


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def with_scheme(address: str) -> str:
    """`http://` before a local or private host, `https://` before any other without a scheme."""
    if "://" in address:
        return address
    host = urlsplit(f"//{address}").hostname or ""
    return ("http://" if _is_near(host) else "https://") + address


def is_near(address: str) -> bool:
    """Whether the server is on this machine or in a private network."""
    return _is_near(urlsplit(with_scheme(address)).hostname or "")


def _is_near(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith(".local")


def is_loopback(address: str) -> bool:
    """Whether data sent there stays on this machine."""
    host = urlsplit(with_scheme(address)).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def address_of(spec: ModelSpec, env: Mapping[str, str]) -> str:
    """The address of the model's API: the spec's, else the environment's, else the provider's own.

    Without a trailing slash; OpenAI-compatible ones with their `/v1`.
    """
    address = spec.address or env.get(_ADDRESS_VARIABLE.get(spec.provider, ""), "") or DEFAULT_ADDRESS[spec.provider]
    parts = urlsplit(with_scheme(address))
    host = "127.0.0.1" if parts.hostname == "0.0.0.0" else (parts.hostname or "")  # OLLAMA_HOST may say so
    default_port = 11434 if spec.provider == "ollama" and not parts.path.strip("/") and parts.scheme == "http" else None
    port = parts.port or default_port
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    path = parts.path.rstrip("/")
    if not path and spec.provider != "anthropic":
        path = "/v1"
    return f"{parts.scheme}://{netloc}{path}"


def key_of(spec: ModelSpec, env: Mapping[str, str]) -> str:
    """The provider's key: from the environment, else the one that is stored for its service; "" for none."""
    service = service_at(address_of(spec, env))
    return clean_key(env.get(key_variable(spec, env), "")) or (StoredKeys(env).get(service) if service else "")


def service_at(address: str) -> str:
    """The service of an address: its machine, with the port if one is named; "" if a key would be sent unencrypted."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:  # a port that is no number, brackets that are not closed
        return ""
    return host + port if (parts.scheme == "https" or _is_near(host)) and _is_host(host) else ""


def key_variable(spec: ModelSpec, env: Mapping[str, str]) -> str:
    """The variable whose key goes to the model's server; "" where none is set.

    `PALIMPSEST_<PROVIDER>_KEY` goes wherever the spec points. The provider's own variable (OPENAI_API_KEY,
    ANTHROPIC_API_KEY) goes only to the provider's own address, to what its own variable names, or to this machine:
    a key for one company is not shown to another.
    """
    own = f"PALIMPSEST_{spec.provider.upper()}_KEY"
    if clean_key(env.get(own, "")):
        return own
    providers = f"{spec.provider.upper()}_API_KEY"
    if spec.provider not in {"openai", "anthropic"} or not clean_key(env.get(providers, "")):
        return ""
    address = address_of(spec, env)
    at_home = address == address_of(ModelSpec(spec.provider, spec.name), env) or (
        urlsplit(address).hostname == urlsplit(DEFAULT_ADDRESS[spec.provider]).hostname
    )
    return providers if at_home or is_loopback(address) else ""
