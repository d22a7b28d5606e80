"""`palimpsest models embed`: sets the embedder, and makes missing vectors."""

from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import Invocation, current
from agent.services.embedder import use_embedder
from foundation.errors import Misuse, PalimpsestError
from foundation.program import PROGRAM
from foundation.sizes import format_size
from foundation.workspace_trust import trust_command

if TYPE_CHECKING:
    from memory.search.vectors.vectors import Coverage, VectorFillResult, Vectors

_LISTEN_S = 0.1  # short, because waiting cannot be interrupted on Windows


class VectorsMissing(PalimpsestError):
    """Some vectors could not be made."""

    code = "embedding"


@click.command("embed", cls=CliCommand)
@click.argument("spec", required=False)
@click.option("--workspace-only", is_flag=True, help="With SPEC: for this workspace, not for all of yours.")
def command(spec: str | None, workspace_only: bool) -> None:
    """Compute missing vectors now. With SPEC, also make SPEC the embedder.

    SPEC is ollama:nomic-embed-text, lmstudio:NAME, llamacpp:NAME, openai:NAME@ADDRESS, onnx:FOLDER,
    mlx:FOLDER-OR-HUB-NAME, or none. The previous embedder is used until the new vectors are ready. Ctrl+C keeps the
    vectors made so far. In an untrusted workspace nothing is computed or set, and the exit status is 1.
    """
    invocation = current()
    invocation.prepare(for_writing=True, writable=True)  # refuses before anything is changed
    if spec is not None:
        _use(invocation, spec, workspace_only=workspace_only)
    chosen = invocation.loaded_config.config.embed.embedder
    if chosen in {"", "none"}:
        if spec is None and "embed.embedder" in invocation.ignored_settings:
            raise VectorsMissing(
                "The embedder is not active",
                "config.yaml sets an embedder, but changed since you trusted this workspace. No vectors were made.",
                f"`{trust_command(invocation.workspace)}`, then try again.",
            )
        if spec is None:
            raise Misuse(
                "No embedder",
                "No embedder is set (embed.embedder); search uses keywords only.",
                f"`{PROGRAM} models embed ollama:nomic-embed-text` sets one and computes the vectors.",
            )
        _print(invocation, chosen, None, None)
        return
    with invocation.memory(for_writing=True) as memory:
        vectors = memory.search.vectors
        if vectors.is_remote:
            output.narrate(f"The texts of this workspace are sent to {chosen}, which is not on this machine.")
        filled = _fill(vectors)
        coverage = vectors.coverage()
    if filled.trouble:
        kept_part = f" {filled.made:,} were made and saved." if filled.made else ""
        raise VectorsMissing("Vectors still missing", f"{filled.trouble}{kept_part}", filled.hint)
    _print(invocation, chosen, filled, coverage)


def _use(invocation: Invocation, spec: str, *, workspace_only: bool) -> None:
    """Sets the embedder, and remembers the previous one as long as its vectors are in use."""
    workspace = invocation.prepare() if workspace_only else invocation.workspace
    config = invocation.loaded_config.config
    set_ = use_embedder(workspace, invocation.environment, spec, config.embed.embedder, user=not workspace_only)
    del invocation.loaded_config
    if invocation.loaded_config.config.embed.embedder != set_.spec:
        origin = invocation.loaded_config.origins["embed.embedder"]
        output.narrate(f"{origin} overrides this with {invocation.loaded_config.config.embed.embedder}.")
    output.narrate(f"Set in {set_.path}.")


def _fill(vectors: "Vectors") -> "VectorFillResult":
    """Makes all missing vectors, with a count on stderr. Ctrl+C keeps those made so far, and is raised."""
    stop = Event()
    results: list[VectorFillResult] = []
    with output.Progress("entries embedded") as progress:

        def work() -> None:
            results.append(vectors.fill(lambda done, _: progress(done), stop.is_set))

        thread = Thread(target=work, name="embedding", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_LISTEN_S)
        except KeyboardInterrupt:
            stop.set()
            output.narrate("Stopping; finished vectors are saved …")
            thread.join()
            raise
    return results[0]


def _print(invocation: Invocation, chosen: str, filled: "VectorFillResult | None", coverage: "Coverage | None") -> None:
    figures: dict[str, Any] = (
        output.plain_values(coverage) if coverage else {"entries": 0, "of": 0, "vectors": 0, "bytes": 0}
    )
    if invocation.json:
        output.json_object({**figures, "embedder": chosen, "made": filled.made if filled else 0})
    elif coverage is None or filled is None:
        output.line("none: search uses keywords only.")
    else:
        output.line(
            f"{chosen}: {coverage.entries:,} of {coverage.of:,} entries have vectors, {filled.made:,} made now "
            f"({coverage.vectors:,} vectors, {format_size(coverage.bytes)})."
        )
