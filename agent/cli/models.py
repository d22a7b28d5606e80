"""`palimpsest models`."""

import asyncio
from typing import Any

import click
from msgspec.structs import asdict

from agent.cli import output
from agent.cli.group import CliGroup
from agent.cli.invocation import Invocation, current
from agent.cli.models_embed import command as embed
from agent.config.config import read_config
from agent.config.edit import parse_value
from agent.config.settings import all_settings
from agent.config.used_models import UsedModels
from agent.services.model_check import check_model
from agent.services.model_probe import probe_model
from agent.services.settings import save_settings, settings_file
from models.chat.detect import detect
from models.chat.open import open_model
from models.chat.port import Profile
from models.chat.spec import parse_spec


@click.group(cls=CliGroup)
def command() -> None:
    """List, choose and test models, and make vectors.

    SPEC is provider:name[@address]: offline, openai:qwen3@http://127.0.0.1:8080/v1, ollama:…, lmstudio:…,
    anthropic:…, mlx:folder-or-hub-name. Keys come from the environment, never from the command line.
    """


@command.command("list")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=1.0, show_default=True, help="Seconds to wait for a server."
)
def list_(timeout: float) -> None:
    """List the available models: local servers that respond, and services with a stored key."""
    invocation = current()
    config = invocation.loaded_config.config
    settings = UsedModels.of(config.environment).with_verdicts(config.models)
    detected = asyncio.run(detect(invocation.environment, timeout=timeout, settings=settings))
    profiles = [(model.profile, model.provider) for model in detected]
    if all(profile.spec != config.model for profile, _ in profiles):
        current_profile = open_model(config.model, settings=settings, env=config.environment).profile
        profiles.insert(0, (current_profile, config.model.partition(":")[0]))
    if invocation.json:
        output.json_object(
            {"models": [_model_object(candidate, provider, config.model) for candidate, provider in profiles]}
        )
        return
    rows = [
        (
            "*" if candidate.spec == config.model else "",
            candidate.spec,
            f"{candidate.window:,}" if candidate.window_known else "?",
            candidate.size.value,
            _abilities(candidate),
            "elsewhere" if candidate.remote else "here",
        )
        for candidate, _ in profiles
    ]
    output.table(rows, ("", "MODEL", "WINDOW", "SIZE", "TAKES", "RUNS"))


@command.command()
@click.argument("spec")
@click.option("--workspace-only", is_flag=True, help="Save it for this workspace only.")
def use(spec: str, workspace_only: bool) -> None:
    """Use SPEC from now on. A window size learned from its server's errors is reset."""
    invocation = current()
    canonical = str(parse_spec(spec))
    setting = all_settings()["model"]
    workspace = invocation.prepare() if workspace_only else invocation.workspace
    file = settings_file(workspace, invocation.environment, setting, user=not workspace_only)
    save_settings(workspace, invocation.environment, file, [(setting, parse_value(setting, canonical))])
    UsedModels.of(invocation.environment).forget_window(canonical)
    reading = read_config(invocation.workspace, invocation.environment, {})
    if reading.config.model != canonical:
        output.narrate(f"{reading.origins['model']} overrides this with {reading.config.model}.")
    if invocation.json:
        output.json_object({"model": canonical, "path": str(file.path)})
        return
    output.line(canonical)
    output.narrate(f"Set in {file.path}.")


@command.command()
@click.argument("spec", required=False)
@click.option("--probe", is_flag=True, help="Test with up to five requests how a local model calls tools.")
def test(spec: str | None, *, probe: bool) -> None:
    """Send a short request to a model; show its window and speed, or what is wrong."""
    invocation = current()
    result = asyncio.run(_test(invocation, spec or invocation.loaded_config.config.model, probe=probe))
    if invocation.json:
        output.json_object(result)
        return
    profile = result["model"]
    output.line(f"{profile['spec']} answered in {result['first_word_ms']:,} ms; window {profile['window']:,} tokens.")
    output.line(result["text"])
    if probe:
        output.line(result["probe"]["text"])


command.add_command(embed)


async def _test(invocation: Invocation, spec: str, *, probe: bool) -> dict[str, Any]:
    config = invocation.loaded_config.config
    result = await check_model(config, spec)
    found = await probe_model(config, spec, lambda step: output.narrate(f"Probe: {step} …")) if probe else None
    return ({"probe": {**asdict(found), "text": found.text}} if found else {}) | {
        "model": _model_object(result.profile, "", spec),
        "first_word_ms": result.first_token_ms,
        "text": result.text,
        "usage": {
            "prompt_tokens": result.usage.prompt_tokens,
            "completion_tokens": result.usage.completion_tokens,
        },
    }


def _abilities(profile: Profile) -> str:
    tools = "tools" if profile.tools else "tools in text" if profile.text_tools else ""
    return ", ".join(filter(None, ["text", "images" if profile.vision else "", tools]))


def _model_object(profile: Profile, provider: str, current: str) -> dict[str, Any]:
    return {
        "spec": profile.spec,
        "name": profile.name,
        "provider": provider or profile.spec.partition(":")[0],
        "window": profile.window,
        "window_known": profile.window_known,
        "vision": profile.vision,
        "tools": profile.tools,
        "text_tools": profile.text_tools,
        "size": profile.size.value,
        "remote": profile.remote,
        "in_use": profile.spec == current,
    }
