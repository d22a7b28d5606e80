"""Which service a stored key belongs to, and which services need one."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from foundation.errors import Misuse, PalimpsestError
from foundation.program import own_command
from models.chat.quirks import is_service
from models.chat.spec import DEFAULT_ADDRESS, ModelSpec, address_of, key_of, service_at, with_scheme


class MissingKey(PalimpsestError):
    """A service needs a key, and there is none."""

    code = "no_key"

    def __init__(self, service: str) -> None:
        hint = f"`{own_command('keys', 'set', service)}` asks for it and stores it."
        super().__init__("No key", f"{service} needs a key, and none is set.", hint)
        self.service = service


def service_named(text: str) -> str:
    """The service that `openai`, `openrouter.ai` or an address names. Raises Misuse."""
    if service := service_at(with_scheme(DEFAULT_ADDRESS.get(text, text.strip()))):
        return service
    raise Misuse(
        "Which service?", "This is not the name of a service.", "Name openai, anthropic or a machine: openrouter.ai."
    )


def service_of(spec: ModelSpec, env: Mapping[str, str]) -> str:
    """The service of a model; "" if it needs no server, or no key may be sent to its address."""
    return "" if spec.provider in {"offline", "mlx"} else service_at(address_of(spec, env))


def require_key(spec: ModelSpec, env: Mapping[str, str]) -> None:
    """Raises MissingKey for a model of a service that is known to need a key, if none is set or stored."""
    service = service_of(spec, env)
    if service and is_service(urlsplit(address_of(spec, env)).hostname or "") and not key_of(spec, env):
        raise MissingKey(service)
