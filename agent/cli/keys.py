"""`palimpsest keys`."""

import sys

import click

from agent.cli import output
from agent.cli.group import CliGroup
from agent.cli.invocation import current, piped_input
from foundation.errors import Misuse
from foundation.keys import StoredKeys
from foundation.program import own_command
from models.chat.service_keys import service_named


@click.group(cls=CliGroup)
def command() -> None:
    """Store, list and remove keys of model services.

    SERVICE is openai, anthropic, or the machine of an address: openrouter.ai. A key is stored in the system's keyring,
    or in a file that only you can read, and goes to that machine alone. It is never an argument and never shown.
    """


@command.command("list")
def list_() -> None:
    """List the services with a stored key."""
    invocation = current()
    places = StoredKeys(invocation.environment).places()
    if invocation.json:
        output.json_object({"keys": [{"service": name, "place": place} for name, place in places.items()]})
        return
    if places:
        output.table(places.items(), ("SERVICE", "STORED IN"))
    else:
        output.narrate(f"No key is stored. `{own_command('keys', 'set', 'openai')}` stores one.")


@command.command("set")
@click.argument("service")
def set_(service: str) -> None:
    """Store the key of SERVICE, typed at a hidden prompt or read from standard input."""
    invocation, name = current(), service_named(service)
    place = StoredKeys(invocation.environment).set(name, asked_key(name) if sys.stdin.isatty() else piped_input() or "")
    if invocation.json:
        output.json_object({"service": name, "place": place})
        return
    output.narrate(f"The key for {name} is stored in the {place}.")


@command.command()
@click.argument("service")
def remove(service: str) -> None:
    """Delete the key of SERVICE."""
    invocation, name = current(), service_named(service)
    if not StoredKeys(invocation.environment).remove(name):
        raise Misuse("No such key", f"No key is stored for {name}.", f"`{own_command('keys', 'list')}` lists them.")
    if invocation.json:
        output.json_object({"removed": name})
        return
    output.narrate(f"The key for {name} was deleted.")


def asked_key(service: str) -> str:
    """Asks for a key on the terminal, without showing it."""
    return click.prompt(f"Key for {service} (hidden)", hide_input=True, err=True)
