"""Checks of the OCR engines and the embedder: what is installed, what is missing, how far the vectors go."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from msgspec import Struct
from msgspec.structs import replace

from agent.config.config import Config
from foundation.errors import PalimpsestError
from foundation.install_hints import install_extra
from foundation.paths import Workspace
from foundation.privacy import as_made
from foundation.program import PROGRAM


class CheckResult(Struct, frozen=True):
    """The result of one check. `state` is ok, missing (an optional part), or wrong."""

    topic: str
    state: str
    sentence: str
    hint: str = ""


def ocr_findings(environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """Which engine reads pictures that are not ours, and what the installed ones lack. Nothing is loaded."""
    from models.ocr.open import ENGINES, installed_engine, is_installed

    at_hand = [name for name in ENGINES[:2] if is_installed(name)]  # the others are used by their names alone
    if is_installed("tesseract"):
        yield _tesseract(environment)
    if is_installed("deepseek"):
        yield _deepseek(environment)
    taken = installed_engine()
    if taken is None:
        yield CheckResult("ocr", "missing", "No engine at hand reads pictures that are not our own pages.")
    else:
        also = f"; also at hand: {', '.join(at_hand[1:])}" if at_hand[1:] else ""
        yield CheckResult("ocr", "ok", f"{taken.name} reads pictures that are not our own pages{also}.")


def _tesseract(environment: Mapping[str, str]) -> CheckResult:
    from models.ocr.tesseract import data_command, find_data, languages_in

    folder = find_data(environment)
    if folder is None:
        return CheckResult("tessdata", "missing", "tesserocr is here, and no language data.", data_command())
    return CheckResult("tessdata", "ok", f"Tesseract reads {', '.join(languages_in(folder))} (data in {folder}).")


def _deepseek(environment: Mapping[str, str]) -> CheckResult:
    from models.ocr.checkpoints import find_checkpoint
    from models.ocr.deepseek import FETCH

    found = find_checkpoint("", environment)
    if found is None:
        return CheckResult(
            "deepseek", "missing", "mlx-vlm is here, and no DeepSeek-OCR in LM Studio's folders or the hub's.", FETCH
        )
    return CheckResult(
        "deepseek", "ok", f"DeepSeek-OCR{'-2' if found.version == 2 else ''} in {found.folder}; `--engine deepseek`."
    )


PATIENCE_S = 1.0
_NEEDS = {"onnx": (("onnxruntime", "tokenizers"), "embed"), "mlx": (("mlx", "tokenizers"), "mlx")}


def embed_findings(workspace: Workspace, config: Config, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """A server is asked for one vector, for a second at most; a model in a folder is not loaded."""
    name = config.embed.embedder
    if name in {"", "none"}:
        said = "No embedder is set: search goes by words."
        yield CheckResult("embedder", "missing", said, f"`{PROGRAM} models embed ollama:nomic-embed-text`, or another.")
        return
    found = _embedder(name, config, environment)
    yield found
    if found.state == "ok" and workspace.database.exists():
        yield _coverage(workspace, config)


def _embedder(name: str, config: Config, environment: Mapping[str, str]) -> CheckResult:
    from models.embed.open import open_embedder

    modules, extra = _NEEDS.get(name.partition(":")[0], ((), ""))
    if lacking := [module for module in modules if find_spec(module) is None]:
        return CheckResult("embedder", "wrong", f"{name} needs {' and '.join(lacking)}.", install_extra(extra))
    settings = replace(config.embed, query_timeout=PATIENCE_S)
    try:
        embedder = open_embedder(name, settings=settings, models=config.models, env=environment)
        if embedder is None:
            return CheckResult("embedder", "missing", "No embedder is set: search goes by words.")
        try:
            where = "the texts leave this machine" if embedder.remote else "on this machine"
            if modules:
                return CheckResult("embedder", "ok", f"{name}, {where}.")
            size = embedder.embed([as_made("ready")], query=True).shape[1]
            return CheckResult("embedder", "ok", f"{name} answers with {size:,} numbers a text; {where}.")
        finally:
            embedder.close()
    except PalimpsestError as error:
        return CheckResult("embedder", "wrong", error.message, error.hint)


def _coverage(workspace: Workspace, config: Config) -> CheckResult:
    from agent.config.embedder import embedding_of
    from memory.memory import Memory

    try:
        memory = Memory.open(workspace, settings=config.archive, embedding=embedding_of(config))
        try:
            covered = memory.search.vectors.coverage()
        finally:
            memory.close()
    except PalimpsestError as error:
        return CheckResult("vectors", "wrong", error.message, error.hint)
    sentence = f"{covered.entries:,} of {covered.of:,} entries have vectors"
    if covered.serving:
        return CheckResult("vectors", "ok", f"{sentence}; search goes by them, too.")
    return CheckResult(
        "vectors", "missing", f"{sentence}; search goes by words.", f"`{PROGRAM} models embed` makes them."
    )
