"""Checks of the OCR engines and the embedder: what is installed, what is missing, how many entries have vectors."""

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
from models.embed.open import open_embedder
from models.ocr.checkpoints import find_checkpoint
from models.ocr.deepseek import FETCH
from models.ocr.open import ENGINES, installed_engine, is_installed
from models.ocr.tesseract import data_command, find_data, languages_in


class CheckResult(Struct, frozen=True):
    """The result of one check. `state` is ok, missing (an optional part), or wrong."""

    topic: str
    state: str
    sentence: str
    hint: str = ""


def ocr_findings(environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """The preferred OCR engine, and missing data of the installed ones. Loads no engine."""
    installed = [name for name in ENGINES[:2] if is_installed(name)]  # the others are used only when named
    if is_installed("tesseract"):
        yield _tesseract(environment)
    if is_installed("deepseek"):
        yield _deepseek(environment)
    preferred = installed_engine()
    if preferred is None:
        yield CheckResult("ocr", "missing", "No OCR engine is available for pictures other than archived pages.")
    else:
        others = f"; also available: {', '.join(installed[1:])}" if installed[1:] else ""
        yield CheckResult("ocr", "ok", f"{preferred.name} reads pictures other than archived pages{others}.")


def _tesseract(environment: Mapping[str, str]) -> CheckResult:
    folder = find_data(environment)
    if folder is None:
        return CheckResult(
            "tessdata", "missing", "tesserocr is installed, but its language data is missing.", data_command()
        )
    return CheckResult("tessdata", "ok", f"Tesseract reads {', '.join(languages_in(folder))} (data in {folder}).")


def _deepseek(environment: Mapping[str, str]) -> CheckResult:
    checkpoint = find_checkpoint("", environment)
    if checkpoint is None:
        return CheckResult(
            "deepseek",
            "missing",
            "mlx-vlm is installed, but DeepSeek-OCR was not found in the folders of LM Studio or the hub.",
            FETCH,
        )
    return CheckResult(
        "deepseek",
        "ok",
        f"DeepSeek-OCR{'-2' if checkpoint.version == 2 else ''} in {checkpoint.folder}; `--engine deepseek`.",
    )


PATIENCE_S = 1.0
_NEEDS = {"onnx": (("onnxruntime", "tokenizers"), "embed"), "mlx": (("mlx", "tokenizers"), "mlx")}


def embed_findings(workspace: Workspace, config: Config, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """Requests one vector from a server, within a second; a model in a folder is not loaded."""
    name = config.embed.embedder
    if name in {"", "none"}:
        sentence = "No embedder is set: keyword search only."
        yield CheckResult(
            "embedder", "missing", sentence, f"`{PROGRAM} models embed ollama:nomic-embed-text`, or another."
        )
        return
    finding = _embedder(name, config, environment)
    yield finding
    if finding.state == "ok" and workspace.database.exists():
        yield _coverage(workspace, config)


def _embedder(name: str, config: Config, environment: Mapping[str, str]) -> CheckResult:
    modules, extra = _NEEDS.get(name.partition(":")[0], ((), ""))
    if missing := [module for module in modules if find_spec(module) is None]:
        return CheckResult("embedder", "wrong", f"{name} needs {' and '.join(missing)}.", install_extra(extra))
    settings = replace(config.embed, query_timeout=PATIENCE_S)
    try:
        embedder = open_embedder(name, settings=settings, models=config.models, env=environment)
        if embedder is None:
            return CheckResult("embedder", "missing", "No embedder is set: keyword search only.")
        try:
            privacy = "texts leave this machine" if embedder.remote else "on this machine"
            if modules:
                return CheckResult("embedder", "ok", f"{name}, {privacy}.")
            size = embedder.embed([as_made("ready")], query=True).shape[1]
            return CheckResult("embedder", "ok", f"{name} responds with {size:,} dimensions; {privacy}.")
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
            coverage = memory.search.vectors.coverage()
        finally:
            memory.close()
    except PalimpsestError as error:
        return CheckResult("vectors", "wrong", error.message, error.hint)
    sentence = f"{coverage.entries:,} of {coverage.of:,} entries have vectors"
    if coverage.serving:
        return CheckResult("vectors", "ok", f"{sentence}; search uses them.")
    return CheckResult("vectors", "missing", f"{sentence}; keyword search only.", f"Run `{PROGRAM} models embed`.")
