"""`palimpsest knowledge`, `-p --knowledge` and `/knowledge`, as a person uses them."""

import base64
import json
import sys
from pathlib import Path

import pytest

from agent.services.knowledge_output import report_lines
from memory.knowledge import ocr
from memory.knowledge.ingest.report import AddReport, FileMessage
from memory.knowledge.readers import pdf
from memory.knowledge.readers.document import OcrReader
from tests.agent.conftest import Run
from tests.loopback import Loopback, chat, json_reply
from tests.memory.knowledge import files


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "installed_ocr_reader", lambda *_: None)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "here" / "notes"
    (folder / "contracts").mkdir(parents=True)
    (folder / "transformers.md").write_text("# Attention\n\nTransformers weigh tokens by attention.\n")
    (folder / "code.py").write_text("def load(path):\n    return path.read_text()\n")
    files.pdf(folder / "contracts" / "lease.pdf", ["The lease of the flat.", "Notice is ninety days."])
    return folder


def test_files_are_added_listed_weighed_and_asked(run: Run, notes: Path) -> None:
    added = run("knowledge", "add", "notes")
    assert added.status == 0, added.err
    assert [line.split()[-1] for line in added.out.splitlines()] == [
        "notes/code.py",
        "notes/contracts/lease.pdf",
        "notes/transformers.md",
    ]
    assert "3 added." in added.err
    assert "9" in run("knowledge", "importance", "contracts/*.pdf", "9").err
    listed = run("knowledge", "list", "--json").json["memories"]
    lease = next(one for one in listed if one["name"] == "notes/contracts/lease.pdf")
    assert (lease["importance"], lease["category"], lease["kind"], lease["state"]) == (9, "contracts", "pdf", "in view")
    said = run("-p", "--knowledge", "What did I learn about transformers?")
    assert said.status == 0, said.err
    assert "> Transformers weigh tokens by attention." in said.out
    assert "[notes/transformers.md · Attention ·" in said.out


def test_the_answers_json_lists_its_sources_with_their_places(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    (source,) = run("-p", "--knowledge", "--json", "How long is the notice?").json["recalled"]
    assert (source["title"], source["place"], source["trust"]) == ("notes/contracts/lease.pdf", "page 2", "exact")
    uses = {one["name"]: one["accesses"] for one in run("knowledge", "list", "--json").json["memories"]}
    assert uses["notes/contracts/lease.pdf"] == 2  # recalled into the request, and cited in the answer
    assert uses["notes/code.py"] == 0


def test_nothing_known_is_told(run: Run) -> None:
    said = run("-p", "--knowledge", "volcanoes of Iceland")
    assert said.status == 0
    assert "No results in knowledge" in said.err
    assert run("--knowledge").status == 2


def test_an_ordinary_question_finds_knowledge_too_and_counts_it(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    assert "ninety days" in run("-p", "How long is the notice of the lease?").out
    uses = {one["name"]: one["accesses"] for one in run("knowledge", "list", "--json").json["memories"]}
    assert uses["notes/contracts/lease.pdf"] >= 1


def test_a_model_is_told_to_answer_from_the_files_and_given_them(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    with Loopback() as server:
        reply, unknown = chat("Ninety days [lease.pdf, page 2]."), json_reply({}, status=404)
        server.answers_all(lambda asked: reply if asked.path.endswith("/chat/completions") else unknown)
        said = run("--model", f"openai:x@{server.address}/v1", "-p", "--knowledge", "--json", "How long is the notice?")
    assert said.json["text"].startswith("Ninety days")
    sent = next(post.json for post in server.posts if post.path.endswith("/chat/completions"))["messages"][-1][
        "content"
    ]
    assert "Notice is ninety days." in sent
    assert "Answer from what is recalled here" in sent
    assert "contracts/lease.pdf, page 2" in sent
    uses = {one["name"]: one["accesses"] for one in run("knowledge", "list", "--json").json["memories"]}
    assert uses["notes/contracts/lease.pdf"] == 2  # its name stands in the answer


def test_a_model_that_sees_is_sent_the_screenshot_to_the_byte(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ocr, "installed_ocr_reader", lambda *_: OcrReader("eyes", lambda _image: "Login failed: error 4711")
    )
    shot = files.picture(notes / "shot.png", "Login failed: error 4711")
    run("knowledge", "add", "notes")
    with Loopback() as server:
        reply, unknown = chat("It says error 4711 [shot.png]."), json_reply({}, status=404)
        server.answers_all(lambda asked: reply if asked.path.endswith("/chat/completions") else unknown)
        said = run(
            "--model", f"openai:qwen3-vl-4b@{server.address}/v1", "-p", "--knowledge", "--json", "Which login error?"
        )
    assert said.status == 0, said.err
    parts = next(post.json for post in server.posts if post.path.endswith("/chat/completions"))["messages"][-1][
        "content"
    ]
    sent = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert [base64.b64decode(url.partition(",")[2]) for url in sent] == [shot.read_bytes()]
    words = "".join(part.get("text", "") for part in parts)
    assert "Shown in the picture “notes/shot.png" in words
    (source,) = said.json["recalled"]
    assert (source["title"], source["trust"]) == ("notes/shot.png", "approximate")


def test_some_bad_files_make_it_fail_and_the_rest_is_there(run: Run, notes: Path) -> None:
    files.pdf(notes / "locked.pdf", ["x"], encrypted=True)
    said = run("knowledge", "add", "notes", "--json")
    assert said.status == 1
    assert [one["why"] for one in said.json["bad"]] == ["it is encrypted"]
    assert len(said.json["added"]) == 3
    assert run("knowledge", "add", "notes", "--json").json["unchanged"] == 3


def test_a_reader_that_is_not_installed_names_the_one_command(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    assert pdf.read_pdf
    said = run("knowledge", "add", "notes")
    assert said.status == 1
    assert "reading it needs pypdfium2" in said.err
    assert said.err.count("palimpsest-shell[knowledge]") == 1
    assert "2 added, 1 could not be read." in said.err


def test_a_text_is_shown_to_the_byte_in_a_pipe_and_that_is_a_use(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    assert run("knowledge", "show", "code.py").raw == (notes / "code.py").read_bytes()
    shown = run("knowledge", "show", "notes/transformers.md", "--json").json
    assert shown["text"].startswith("# Attention")
    assert shown["trust"] == "exact"
    assert {one["name"]: one["accesses"] for one in run("knowledge", "list", "--json").json["memories"]}[
        "notes/transformers.md"
    ] == 1
    assert run("knowledge", "show", "no-such.txt").status == 1
    assert run("knowledge", "show", "notes/*").status == 2


def test_removing_asks_and_leaves_the_file(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    assert run("knowledge", "remove", "code.py", stdin=b"").status == 2
    assert run("knowledge", "remove", "code.py", "--yes").status == 0
    assert (notes / "code.py").exists()
    assert "code.py" not in run("knowledge", "list").out
    assert run("check").status == 0


def test_deleting_its_conversation_deletes_its_pictures(run: Run, notes: Path, tmp_path: Path) -> None:
    shot = files.picture(notes / "shot.png", "words")
    run("knowledge", "add", "notes")
    (kept,) = map(Path, run("knowledge", "show", "shot.png", "--json").json["pictures"])
    assert kept.read_bytes() == shot.read_bytes()
    hit = run("search", "--kind", "knowledge", "shot", "--json").json["hits"][0]
    assert run("conversations", "delete", hit["conversation"], "--yes").status == 0
    assert not kept.exists()
    assert shot.exists()
    assert "shot.png" not in run("knowledge", "list").out


def test_no_code_of_the_folder_where_a_person_stands_is_run(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "struct.py").write_text("open('was-run', 'w').close()")
    monkeypatch.chdir(notes)
    assert "ninety days" in pdf.read_pdf((notes / "contracts" / "lease.pdf").read_bytes(), "lease.pdf", None).text
    assert not (notes / "was-run").exists()


def test_stats_say_how_full_the_view_is(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    figures = run("knowledge", "stats", "--json").json
    assert (figures["memories"], figures["tokens"], figures["max_tokens"]) == (3, 192, 400)
    assert figures["utilisation"] == 48.0
    assert "48.0 %" in run("knowledge", "stats").out


def test_the_view_is_never_fuller_than_full(run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(20):
        (notes / f"{n}.txt").write_text(f"Number {n} of the harbour. " * 30)
    run("knowledge", "add", "notes")
    figures = run("knowledge", "stats", "--json").json
    assert (figures["tokens"], figures["max_tokens"], figures["utilisation"]) == (384, 400, 96.0)
    assert figures["tokens_of_all"] > 1000
    said = run("knowledge", "stats")
    assert "384 of 400 vision tokens" in said.out
    assert f"All knowledge together has {figures['tokens_of_all']:,}." in said.err
    monkeypatch.setenv("PALIMPSEST_KNOWLEDGE_MAX_VISION_TOKENS", "10")  # not one page
    assert run("knowledge", "stats", "--json").json["utilisation"] == 0.0


def test_older_encodings_are_read_and_told_together(run: Run, notes: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (notes / name).write_bytes(f"{name}：会议定于三月十二日在上海举行。\n".encode("gbk"))
    (notes / "c.txt").write_bytes("совещание".encode("koi8_r"))
    said = run("knowledge", "add", "notes")
    assert "Read as GB18030, because it is not UTF-8: notes/a.txt, notes/b.txt." in said.err
    assert "notes/c.txt: its text is not valid UTF-8 (line 1, byte 0), and its encoding is unknown; save it" in said.err
    assert run("knowledge", "show", "a.txt").raw.decode() == "a.txt：会议定于三月十二日在上海举行。\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_name_with_a_line_end_is_one_line(run: Run, notes: Path) -> None:
    (notes / "two\nlines\x1b[2J.txt").write_text("A harbour.\n")
    (notes / "bad\nname.pdf").write_bytes(b"none")
    added = run("knowledge", "add", "notes")
    assert "notes/two␊lines␛[2J.txt" in added.out
    assert len(added.out.splitlines()) == 4
    assert "notes/bad␊name.pdf: it is" in added.err
    assert "notes/two␊lines" in run("knowledge", "list").out
    assert "notes/two␊lines" in run("knowledge", "show", "two*").err.splitlines()[0]
    assert len(run("knowledge", "importance", "two*", "7").out.splitlines()) == 1
    assert len(run("knowledge", "remove", "two*", "--yes").out.splitlines()) == 1


def test_the_budget_is_a_setting_and_forgetting_is_told(run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_KNOWLEDGE_MAX_VISION_TOKENS", "64")
    (notes / "twin.md").write_text((notes / "transformers.md").read_text())
    said = run("knowledge", "add", "notes")
    assert "Shown by a near-duplicate now, because the budget is 64 vision tokens: notes/t" in said.err
    assert "still find all of it" in said.err


def test_what_left_the_view_is_told_with_the_budget() -> None:
    told = [
        FileMessage(name, name, why)
        for name, why in [("a", "out of view"), ("b", "smaller: small"), ("c", "out of view"), ("d", "in view")]
    ]
    assert report_lines(AddReport(forgotten=told, budget=400)) == [
        "Out of view now, because the budget is 400 vision tokens: a, c.",
        "Shown smaller now, because the budget is 400 vision tokens: b.",
        "In view again, or larger: d.",
        "Search and recall still find all of it.",
    ]


def test_importance_is_between_0_and_10(run: Run, notes: Path) -> None:
    assert run("knowledge", "importance", "*.pdf", "11").status == 2
    assert run("knowledge", "importance", "*.pdf", "high").status == 2
    assert run("knowledge", "importance", "*.pdf").status == 2
    run("knowledge", "importance", "*.pdf", "8")
    assert run("knowledge", "importance", "--json").json["patterns"] == [{"pattern": "*.pdf", "importance": 8.0}]


def test_categories_are_given_by_hand(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    run("knowledge", "category", "*.md", "reading")
    assert [one["name"] for one in run("knowledge", "list", "--category", "reading", "--json").json["memories"]] == [
        "notes/transformers.md"
    ]


def test_the_slash_command_adds_lists_and_weighs(run: Run, notes: Path) -> None:
    assert "No files added yet" in run("-p", "/knowledge").out
    assert "3 added." in run("-p", f"/knowledge add '{notes}'").out
    assert "| notes/transformers.md | 5 |" in run("-p", "/knowledge list").out
    assert "set for 1 file" in run("-p", "/knowledge importance *.md 7").out
    assert "memories: 3" in run("-p", "/knowledge stats").out
    assert run("-p", "/knowledge eat").status == 2


def test_search_finds_knowledge_alone_where_asked(run: Run, notes: Path) -> None:
    run("knowledge", "add", "notes")
    run("remember", "Attention is needed at the boiler.")
    hits = run("search", "--kind", "knowledge", "attention", "--json").json["hits"]
    assert [json.dumps(hit["citation"]).count("transformers.md") > 0 for hit in hits] == [True]
    assert [(hit["kind"], hit["role"], hit["speaker"]) for hit in hits] == [("knowledge", None, None)]  # nobody said it
    line = next(line for line in run("search", "attention").out.splitlines() if "transformers.md" in line)
    assert "user" not in line
    assert "knowledge (added files)," in " ".join(run("search", "--help").out.split())
