"""HTML to Markdown, in a process of its own, because a hostile page makes any parser slow.

python -m agent.tools.web.html_markdown    HTML on standard input, Markdown on standard output, both UTF-8
"""

import os
import re
import subprocess
import sys
from contextlib import suppress
from typing import Final

from agent.tools.port import ToolFailure

SECONDS: Final = 10.0
MEMORY: Final = 1_500 * 2**20  # bytes of address space
_UNREAD: Final = ("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "form", "button")
_BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*\n){2,}")


def html_to_markdown(html: str) -> str:
    """The page as Markdown. Raises ToolFailure where it takes too long or is nested too deeply."""
    command = [sys.executable, "-P", "-m", __name__]  # -P: not this folder's modules
    names = ("PATH", "SYSTEMROOT", "LANG")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path)), "PYTHONUTF8": "1"}
    try:
        done = subprocess.run(
            command,
            input=html.encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolFailure("Not readable", f"The page takes more than {SECONDS:g} seconds to convert.") from error
    if done.returncode:
        raise ToolFailure("Not readable", "The page could not be converted: it is too large or nested too deeply.")
    return done.stdout.decode("utf-8", "replace")


def main() -> None:
    """Converts standard input."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(5_000)
    page = BeautifulSoup(sys.stdin.buffer.read().decode("utf-8"), "html.parser")
    title = " ".join(page.title.get_text().split()) if page.title else ""
    for element in page.find_all(_UNREAD):
        element.decompose()
    body = page.find("main") or page.body or page
    text = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(body)
    text = _BLANK_LINES.sub("\n\n", text).strip()
    heading = f"# {title}\n\n" if title and not text.startswith("# ") else ""
    sys.stdout.buffer.write(f"{heading}{text}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
