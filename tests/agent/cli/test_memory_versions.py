"""`palimpsest memory log`, `diff`, `show`, `restore` and `undo`."""

from pathlib import Path

from tests.agent.conftest import Run


def edit(root: Path, text: str, name: str = "MEMORY.md") -> None:
    with (root / name).open("a", encoding="utf-8") as file:
        file.write(text)


def numbers(run: Run, *file: str) -> list[int]:
    return [row["number"] for row in run("memory", "log", *file, "--json").json["versions"]]


def test_the_log_names_who_and_why_the_newest_first(run: Run, root: Path) -> None:
    run("remember", "The boiler is serviced in May.")
    edit(root, "- 手写 🐋\n")
    rows = run("memory", "log", "MEMORY.md", "--json").json["versions"]
    assert [(row["author"], row["reason"]) for row in rows][:2] == [("user", "by hand"), ("user", "remember")]
    shown = run("memory", "log", "MEMORY.md").out
    assert "by hand" in shown
    assert "+1 −0" in shown


def test_files_of_the_project_that_were_edited_since_are_in_the_log(run: Run, root: Path) -> None:
    run("memory", "log")
    edit(root, "Be brief.\n", "AGENTS.md")
    assert run("memory", "log", "AGENTS.md", "--json").json["versions"][0]["reason"] in {
        "by hand",
        "found when versions were first saved",
    }


def test_a_difference_shows_the_changed_lines(run: Run, root: Path) -> None:
    run("remember", "one")
    edit(root, "- 二\n")
    newest, before, *_ = numbers(run, "MEMORY.md")
    assert "+- 二" in run("memory", "diff", str(newest)).out
    assert "-- 二" in run("memory", "diff", str(newest), str(before)).out


def test_a_version_is_shown_and_restored(run: Run, root: Path) -> None:
    run("remember", "The boiler is serviced in May.")
    old = (root / "MEMORY.md").read_bytes()
    number = numbers(run, "MEMORY.md")[0]
    edit(root, "- later\n")
    assert run("memory", "show", str(number), "--raw").out.encode() == old
    said = run("memory", "restore", str(number))
    assert f"is restored to version {number}" in said.out
    assert (root / "MEMORY.md").read_bytes() == old
    assert "later" in run("memory", "show", str(numbers(run, "MEMORY.md")[1])).out
    assert "already" in run("memory", "restore", str(number)).out


def test_what_is_not_there_is_a_sentence(run: Run) -> None:
    run("remember", "one")
    for words in (("log", "nothing.md"), ("show", "999"), ("diff", "999"), ("restore", "999")):
        said = run("memory", *words)
        assert said.status == 1, words
        assert "version" in said.err


def test_versions_of_two_files_are_not_compared(run: Run, root: Path) -> None:
    edit(root, "- Ann\n", "memory/people.md")
    run("remember", "one")
    first, second = numbers(run, "MEMORY.md")[0], numbers(run, "memory/people.md")[0]
    assert "Two files" in run("memory", "diff", str(first), str(second)).err


def test_without_a_models_change_there_is_nothing_to_undo(run: Run) -> None:
    run("remember", "one")
    nothing = run("memory", "undo")
    assert (nothing.status, nothing.out, "No changes by a model are left to undo" in nothing.err) == (1, "", True)
    nothing = run("memory", "undo", "--json")
    assert (nothing.status, nothing.json["version"]) == (1, None), "as `retention --undo`"
    by_hand = run("memory", "undo", str(numbers(run, "MEMORY.md")[0]))
    assert (by_hand.status, "is by you" in by_hand.err) == (1, True)
    assert run("memory", "undo", "999").status == 1


def test_a_whole_version_after_a_damaged_one_is_not_called_damaged(run: Run, root: Path) -> None:
    for text in ("one\n", "two\n", "three\n"):
        (root / "AGENTS.md").write_text(text * 40, "utf-8")
        run("memory", "log")
    rows = run("memory", "log", "AGENTS.md", "--json").json["versions"]
    objects = root / ".palimpsest" / "versions" / "objects"
    (objects / rows[1]["sha256"][:2] / rows[1]["sha256"]).write_bytes(b"")
    newest, damaged = run("memory", "log", "AGENTS.md").out.splitlines()[1:3]
    assert "damaged" in damaged
    assert "changed" in newest
    assert run("memory", "show", str(rows[0]["number"]), "--raw").out == "three\n" * 40
