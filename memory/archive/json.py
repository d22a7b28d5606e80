"""What `archive --json` prints."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory.pages.types import ArchiveResult, PageRow


def archived_as_json(archived: ArchiveResult, path_of: Callable[[str], Path]) -> dict[str, Any]:
    """The object of `archive --json`; `path_of` gives a page's PNG by its id (`Vault.png`)."""
    return {
        "schema": 1,
        "label": archived.label,
        "pages": [_page(page, path_of(page.id)) for page in archived.pages],
        "text_tokens": archived.text_tokens,
        "vision_tokens": archived.vision_tokens,
        "ratio": archived.ratio,
        "tokenizer": archived.tokenizer,
        "profile": archived.profile,
    }


def _page(page: PageRow, path: Path) -> dict[str, Any]:
    return {
        "id": page.id,
        "path": str(path),
        "mode": page.mode,
        "width": page.width,
        "height": page.height,
        "chars": page.chars,
        "text_tokens": page.text_tokens,
        "vision_tokens": page.vision_tokens,
        "ratio": page.ratio,
        "sha256": page.sha256,
        "verified": page.verified,
    }
