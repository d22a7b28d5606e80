"""The pictures of each group on one page: `python -m scripts.picture_pages FOLDER`. `pytest --snapshot-update` takes
them; a change of style is reviewed by looking at a page a group, or at what git says of `tests/tui/pictures/sheets`."""

import html
import sys
from pathlib import Path
from typing import Final

SHEETS: Final = Path(__file__).parents[1] / "tests" / "tui" / "pictures" / "sheets"
_HEAD: Final = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<style>body{{font-family:sans-serif}}figure{{display:inline-block;width:48%;margin:1% 0 1% 1%;vertical-align:top}}
img{{width:100%}}</style><h1>{title}</h1>
"""


def page(group: Path) -> str:
    """HTML of one group's sheets with their names; the pictures stay where they are."""
    figures = [
        f'<figure><figcaption>{html.escape(name)}</figcaption><img src="{sheet.as_uri()}" alt="{html.escape(name)}">'
        f"</figure>\n"
        for sheet in sorted(group.glob("*.svg"))
        for name in [sheet.stem.replace("_", " ")]
    ]
    return _HEAD.format(title=f"{group.name}: {len(figures)} pictures") + "".join(figures)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for group in sorted(each for each in SHEETS.iterdir() if each.is_dir()):
        target = folder / f"{group.name}.html"
        target.write_text(page(group), encoding="utf-8")
        sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
