"""Lets a small disk fill up below an answer that streams in the chat: `python -m tests.trust.full_disk_answer DISK`.

Prints, by step, the text of the screen: the first answer gets its room back while it streams, the second after Esc.
"""

import json
import os
import sys
from pathlib import Path

from tests.loopback import Loopback, Pause, Received, Reply, data, delta, json_reply, stream
from tests.trust.fill_disk import take_room
from tests.trust.full_disk_commands import run
from tests.tui.pty_screen import PROGRAM, Terminal

WORDS = 2_000


def slow(name: str) -> Reply:
    """So many numbered words, ten a second."""
    return stream(*(step for n in range(WORDS) for step in (data(delta(content=f"{name}{n}, ")), Pause(0.1))))


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
    status, out, err = run(workspace, ("init", str(workspace)), environment)
    assert status == 0, (out, err)
    answers = [slow("alpha"), slow("beta")]

    def reply(received: Received) -> Reply:
        is_chat = received.path.endswith("/chat/completions")
        return answers.pop(0) if is_chat else json_reply({}, status=404)

    shown: dict[str, str] = {}
    with Loopback() as server:
        server.answers_all(reply)
        model = f"openai:m@{server.address}/v1"
        words = ("--workspace", str(workspace), "--model", model)
        terminal = Terminal(*words, program=PROGRAM, columns=136, rows=40, **changed)
        try:
            terminal.until(lambda text: "mode ask" in text, 60)
            terminal.quiet()
            terminal.type("count, please\r")
            terminal.until(lambda text: "alpha3," in text, 60)
            take_room(disk, 0)
            shown["full"] = terminal.until(lambda text: "answering · not saved to disk" in text, 60)
            (disk / "ballast").unlink()
            shown["room"] = terminal.until(lambda text: "The answer is now saved" in text, 60)
            terminal.type("\x1b")
            terminal.until(lambda text: "what came is kept" in text, 60)
            terminal.quiet()
            terminal.type("count once more\r")
            terminal.until(lambda text: "beta3," in text, 60)
            take_room(disk, 0)
            terminal.until(lambda text: "answering · not saved to disk" in text, 60)
            terminal.type("\x1b")
            terminal.until(lambda text: "No space is left" in text and "disk full: an answer" in text, 60)
            terminal.quiet()
            shown["ended"] = terminal.text
            (disk / "ballast").unlink()
            terminal.until(lambda text: "the unsaved answer is now stored" in text, 60)
            shown["stored"] = terminal.until(lambda text: "disk full" not in text.splitlines()[-1], 60)
            terminal.type("\x03")
            terminal.settle(0.3)
            terminal.type("\x03")
            terminal.settle(0.3)
            terminal.type("\x03")
            shown["status"] = str(terminal.ended(60))
        except AssertionError as error:
            print(json.dumps({**shown, "failed": str(error)}))
            return
        finally:
            terminal.close()
    run(workspace, ("export", "--to", "markdown", "--dir", str(outside / "exported")), environment)
    notes = [path.read_text("utf-8") for path in (outside / "exported").rglob("*.md")]
    print(json.dumps({**shown, "export": "\n".join(notes)}))


if __name__ == "__main__":
    main()
