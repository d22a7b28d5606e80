"""The OCR engines at hand: what each one still needs, once its library is here, to read a picture."""

from collections.abc import Iterator, Mapping

from agent.doctor.check_result import CheckResult


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
