"""Opens the chat on a small disk without a free byte, or one that is mounted read-only then:
`python -m tests.trust.full_disk_chat DISK full|read-only`.

Prints, by step, the text of the screen: the conversation, a search, a recall, a message that is not sent, and the same
message once there is room again.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.trust.fill_disk import take_room
from tests.trust.full_disk_commands import run
from tests.tui.pty_screen import PROGRAM, Terminal


def main() -> None:
    disk = Path(sys.argv[1])
    outside, workspace = disk.parent, disk / "workspace"
    changed = {
        "HOME": str(outside / "home"),
        "PALIMPSEST_CONFIG_DIR": str(outside / "user-config"),
        "PALIMPSEST_DETECT": "off",
        "TMPDIR": str(outside),
    }
    environment = {**os.environ, **changed}
    for words in (("init", str(workspace)), ("remember", "the teapot is blue"), ("-p", "where is the teapot?")):
        status, out, err = run(workspace, words, environment)
        assert status == 0, (words, out, err)
    is_full = sys.argv[2] == "full"
    if is_full:
        take_room(disk, 0)
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    shown: dict[str, str] = {}
    words = ("--workspace", str(workspace), "-c")
    terminal = Terminal(*words, program=PROGRAM, columns=136, rows=40, **changed)
    try:
        shown["opened"] = terminal.until(lambda text: "where is the teapot?" in text and "you can read" in text, 60)
        terminal.quiet()
        for command in ("search", "recall"):
            terminal.type(f"/{command} teapot\r")
            terminal.until(lambda text: "Esc leaves" in text and "the teapot is blue" in text, 60)
            terminal.quiet()
            shown[command] = terminal.text
            terminal.type("\x1b")
            terminal.until(lambda text: "Esc leaves" not in text, 60)
            terminal.quiet()
        terminal.type("what has no room\r")
        terminal.until(lambda text: "not sent: back in the prompt" in text, 60)
        terminal.quiet()
        shown["refused"] = terminal.text
        if is_full:
            (disk / "ballast").unlink()
        else:
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        terminal.type("\r")
        terminal.until(lambda text: "Nothing in memory matches" in text, 60)
        terminal.quiet(1, 60)
        shown["sent again"] = terminal.text
        terminal.type("\x03")
        terminal.settle(0.3)
        terminal.type("\x03")
        terminal.settle(0.3)
        terminal.type("\x03")
        status = terminal.ended(60)
    except AssertionError as error:
        print(json.dumps({**shown, "failed": str(error)}))
        return
    finally:
        terminal.close()
    listed = run(workspace, ("export", "--to", "markdown", "--dir", str(outside / "exported")), environment)
    notes = [path.read_text("utf-8") for path in (outside / "exported").rglob("*.md")]
    print(json.dumps({**shown, "status": str(status), "export": listed[1], "stored": "\n".join(notes)}))


if __name__ == "__main__":
    main()
