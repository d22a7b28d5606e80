"""`archive --demo`: archives a text, deletes the workspace, and reads the text back from the page alone."""

import tempfile
import time
from pathlib import Path
from typing import Any

from msgspec import Struct

from agent.services.archive import archive_text
from foundation.files import read_bytes, write_atomically
from foundation.paths import Workspace
from foundation.workspace_trust import TrustStore
from memory.archive import read_png
from memory.memory import Memory
from memory.pages.types import PageRow

DEMO_TEXT = """\
Notes for the house, March
The boiler is serviced in May by Hansen; the warranty ends in 2027. Call two weeks before, and keep the receipt.
锅炉每年五月由汉森保养，保修期到2027年为止。请提前两周打电话，并保留收据。

The spare key lies in the blue tin behind the third tomato pot. Mrs Okonkwo has another. 🔑 The meter reads 048 213.7,
the router's address is fe80::1c2b:3aff:fe4d:5e6f, and the order is 7f3a9c1e-20b4-4d6e-9a51-c0ffee123456.

def due(month: str, year: int = 2027) -> bool:
    \"\"\"Whether it is time.\"\"\"
    return month == "May" and year <= 2027

┌──────────┬────────┬─────────────────┐
│ part     │  price │ note            │
├──────────┼────────┼─────────────────┤
│ valve    │  12.50 │ 阀门            │
│ pump     │ 140.00 │ ordered, Monday │
└──────────┴────────┴─────────────────┘

"Do you remember what we said about the garden?" – "Radishes in March, beans after the last frost, and nothing at all
beside the walnut." 「四月种豆，五月种瓜。」 Привет из Риги: двенадцать банок варенья стоят в подвале. Ελιές και σύκα.

The harbour office moved to Quay 7 in March; its number is 555 0199, and it opens at nine. The ferry leaves at 09:40,
but Ann would rather take the train. The cello lesson moved to 17:45 on Thursdays, room 4B; bring rosin. ☂ if it rains.
"""
PAGE_NAME = "a-page-and-nothing-else.png"


class DemoReport(Struct, frozen=True, kw_only=True):
    """The result of the demonstration. `picture` is kept in a temporary folder; the workspace is deleted."""

    text: str
    read_back: str
    trust: str
    engine: str
    page: PageRow
    picture: Path
    tokenizer: str
    profile: str
    archive_ms: float  # drawn, packed, synced, read back, compared, committed
    read_ms: float  # from the picture alone

    @property
    def equal(self) -> bool:
        """Whether the text was read back to the last character."""
        return self.text == self.read_back


def demonstrate(folder: Path | None = None) -> DemoReport:
    """Archives the text in a temporary workspace, deletes the workspace, and reads the page's picture.

    The picture is kept in `folder`, by default a new temporary folder.
    """
    target = folder or Path(tempfile.mkdtemp(prefix="palimpsest-demo-"))
    picture = target / PAGE_NAME
    with tempfile.TemporaryDirectory(prefix="palimpsest-") as scratch:
        began = time.monotonic()
        trust = TrustStore(Path(scratch) / "trust")  # the folder is gone in a moment
        memory = Memory.open(Workspace(Path(scratch) / "workspace"), trust=trust)
        try:
            result = archive_text(memory, DEMO_TEXT, "demo", mode="small", keep=False)
            took = time.monotonic() - began
            write_atomically(picture, read_bytes(result.pictures[0]))
        finally:
            memory.close()
    page = read_png(picture)
    return DemoReport(
        text=DEMO_TEXT,
        read_back=page.text,
        trust=page.trust.value,
        engine=page.engine,
        page=result.archived.pages[0],
        picture=picture,
        tokenizer=result.archived.tokenizer,
        profile=result.archived.profile,
        archive_ms=round(took * 1000, 1),
        read_ms=page.read_ms,
    )


def figures(report: DemoReport) -> tuple[tuple[str, str], ...]:
    """Rows of a name and a sentence."""
    page = report.page
    comparison = "identical to the original" if report.equal else "differs from the original: please report it"
    return (
        ("text", f"{len(report.text):,} characters, {page.text_tokens:,} tokens by {report.tokenizer}"),
        (
            "page",
            f"{page.mode}, {page.width}×{page.height} pixels, {page.vision_tokens:,} vision tokens by {report.profile}",
        ),
        ("ratio", f"{page.ratio:g} text tokens on one vision token"),
        ("archived", f"in {report.archive_ms:,.0f} ms: drawn, stored, read back and verified"),
        ("read", f"in {report.read_ms:,.1f} ms from the picture alone, its workspace deleted"),
        ("read back", f"{report.trust}, {comparison}"),
        ("picture", str(report.picture)),
    )


def as_object(report: DemoReport) -> dict[str, Any]:
    """The object of `archive --demo --json`, without its schema."""
    page = report.page
    return {
        "text": report.text,
        "read_back": report.read_back,
        "equal": report.equal,
        "trust": report.trust,
        "engine": report.engine,
        "picture": str(report.picture),
        "mode": page.mode,
        "width": page.width,
        "height": page.height,
        "chars": page.chars,
        "text_tokens": page.text_tokens,
        "vision_tokens": page.vision_tokens,
        "ratio": page.ratio,
        "tokenizer": report.tokenizer,
        "profile": report.profile,
        "archive_ms": report.archive_ms,
        "read_ms": report.read_ms,
    }
