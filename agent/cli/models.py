"""`palimpsest models`."""

import asyncio
import time
from typing import Any

import click

from agent.cli import output
from agent.cli.group import CliGroup
from agent.cli.invocation import Invocation, current
from agent.cli.models_embed import command as embed
from agent.config.config import read_config
from agent.config.edit import parse_value
from agent.config.settings import all_settings
from agent.config.used_models import UsedModels
from agent.services.settings import save_settings, settings_file
from foundation.errors import PalimpsestError
from models.chat.detect import detect
from models.chat.open import open_model
from models.chat.port import AnswerEnd, AnswerError, Profile, TextChunk
from models.chat.spec import parse_spec
from models.messages import Request, Usage, user


class ModelFailed(PalimpsestError):
    """The model did not answer."""

    code = "model"


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
    """List the models at hand: local servers that answer, and services that you have a key for."""
    invocation = current()
    config = invocation.loaded_config.config
    detected = asyncio.run(detect(invocation.environment, timeout=timeout, settings=config.models))
    profiles = [(model.profile, model.provider) for model in detected]
    if all(profile.spec != config.model for profile, _ in profiles):
        current_profile = open_model(config.model, settings=config.models, env=config.environment).profile
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
            f"{candidate.window:,}",
            _abilities(candidate),
            "elsewhere" if candidate.remote else "here",
        )
        for candidate, _ in profiles
    ]
    output.table(rows, ("", "MODEL", "WINDOW", "TAKES", "RUNS"))


@command.command()
@click.argument("spec")
@click.option("--workspace-only", is_flag=True, help="For this workspace, not for all of yours.")
def use(spec: str, workspace_only: bool) -> None:
    """Speak to SPEC from now on. A window that was learned from its server's errors is forgotten."""
    invocation = current()
    canonical = str(parse_spec(spec))
    setting = all_settings()["model"]
    workspace = invocation.prepare() if workspace_only else invocation.workspace
    file = settings_file(workspace, invocation.environment, setting, user=not workspace_only)
    save_settings(workspace, invocation.environment, file, [(setting, parse_value(setting, canonical))])
    UsedModels.of(invocation.environment).forget_window(canonical)
    reading = read_config(invocation.workspace, invocation.environment, {})
    if reading.config.model != canonical:
        output.narrate(f"{reading.origins['model']} comes first here, and says {reading.config.model}.")
    if invocation.json:
        output.json_object({"model": canonical, "path": str(file.path)})
        return
    output.line(canonical)
    output.narrate(f"Set in {file.path}.")


@command.command()
@click.argument("spec", required=False)
def test(spec: str | None) -> None:
    """Ask a model for a word, and say what it is, how fast it answers, or what is wrong."""
    invocation = current()
    result = asyncio.run(_test(invocation, spec or invocation.loaded_config.config.model))
    if invocation.json:
        output.json_object(result)
        return
    profile = result["model"]
    output.line(f"{profile['spec']} answers in {result['first_word_ms']:,} ms; window {profile['window']:,} tokens.")
    output.line(result["text"])


command.add_command(embed)


async def _test(invocation: Invocation, spec: str) -> dict[str, Any]:
    config = invocation.loaded_config.config
    model = open_model(spec, settings=config.models, env=config.environment)
    start, first_token, answer, usage = time.monotonic(), 0.0, "", Usage(estimated=True)
    try:
        profile = await model.prepare()
        request = Request(model=profile.name, messages=(user("Answer with the single word: ready"),), max_tokens=64)
        async for event in model.stream(request):
            match event:
                case TextChunk(text=text):
                    first_token = first_token or time.monotonic()
                    answer += text
                case Usage():
                    usage = event
                case AnswerError(title=title, message=message, hint=hint):
                    raise ModelFailed(title, message, hint)
                case AnswerEnd():
                    break
                case _:
                    pass
    finally:
        await model.close()
    latency_ms = round(((first_token or time.monotonic()) - start) * 1000)
    figures = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    return {
        "model": _model_object(profile, "", spec),
        "first_word_ms": latency_ms,
        "text": answer.strip(),
        "usage": figures,
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
        "remote": profile.remote,
        "in_use": profile.spec == current,
    }
