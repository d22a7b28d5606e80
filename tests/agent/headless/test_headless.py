"""One answer without a screen, in each of its three forms; and the slash commands there."""

import json
from pathlib import Path

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from foundation.clock import SystemClock
from foundation.paths import Workspace
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, lines, of_type, tool_call
from tests.loopback import chat


def test_the_answer_is_text_and_nothing_else(run: Run) -> None:
    run("remember", "The boiler is serviced in May.")
    said = run("-p", "When is the boiler serviced?")
    assert said.status == 0, said.err
    assert "serviced in May" in said.out
    assert said.out.endswith("\n")


def test_joiners_between_streamed_pieces_stay_what_they_are(run: Run) -> None:
    family, persian = "👩‍👩‍👧‍👦", "نمی‌خواهم"
    with ChatServer() as server:
        server.plays(chat(*family, *persian), chat("👩‍👩", "‍👧‍👦"), chat("pay", "\u200d", "pal\r"))
        assert run("--model", server.spec, "-p", "a").out == f"{family}{persian}\n"
        assert run("--model", server.spec, "-p", "b").out == f"{family}\n"
        assert run("--model", server.spec, "-p", "c").out == "pay⟨U+200D⟩pal␍\n"


def test_an_empty_answer_says_so_and_fails(run: Run) -> None:
    with ChatServer() as server:
        server.plays(chat(""), chat(" \n"), chat("Yes."))
        told = run("--model", server.spec, "-p", "a")
        assert (told.status, told.out, told.err.splitlines()[-1]) == (1, "", "The answer is empty.")
        as_json = run("--model", server.spec, "-p", "b", "--json")
        assert (as_json.status, as_json.json["status"]) == (1, "empty")
        assert run("--model", server.spec, "-p", "c").status == 0


def test_standard_input_is_appended(run: Run) -> None:
    assert run("-p", "What is this?", stdin=b"\xef\xbb\xbfthe piped words").status == 0
    shown = run("conversations", "list", "--json").json["conversations"][0]
    entries = run("conversations", "show", shown["id"], "--json").json["entries"]
    assert entries[0]["text"] == "What is this?\n\nthe piped words"


def test_nothing_to_answer_is_a_misuse(run: Run) -> None:
    assert run("-p", "", stdin=b"  ").status == 2
    assert run("--output-format", "json").status == 2
    assert run("chat", "one", "-p", "two").status == 2


def test_json_is_the_last_line_of_stream_json(run: Run) -> None:
    one = run("-p", "hello", "--output-format", "json").json
    assert list(one)[:5] == ["schema", "type", "text", "conversation", "entry"]
    assert {"usage", "model", "recalled", "context"} <= set(one)
    lines = [json.loads(line) for line in run("-p", "hello", "--output-format", "stream-json").out.splitlines()]
    assert lines[0]["type"] == "user"
    assert set(lines[0]) == {"schema", "type", "entry", "conversation", "steers"}
    assert all(line["schema"] == 1 for line in lines)
    assert set(lines[-1]) == set(one)
    assert "".join(line["text"] for line in lines if line["type"] == "text") == lines[-1]["text"]
    assert run("-p", "hello", "--json").json["type"] == "result"


def test_a_plan_is_a_line_of_stream_json_each_time_that_it_changes(run: Run) -> None:
    with ChatServer() as server:
        plans = (["[>] Read the tests", "改正"], [{"text": "Read the tests", "state": "done"}, "[>] 改正"])
        server.plays(*(tool_call("update_plan", steps=steps) for steps in plans), chat("I go on."))
        told = run("--model", server.spec, "-p", "Fix it", "--output-format", "stream-json")
    assert [[(step["text"], step["state"]) for step in line["steps"]] for line in of_type(lines(told.out), "plan")] == [
        [("Read the tests", "doing"), ("改正", "pending")],
        [("Read the tests", "done"), ("改正", "doing")],
    ]


def test_a_conversation_goes_on(run: Run) -> None:
    first = run("-p", "hello", "--json").json["conversation"]
    assert run("-c", "-p", "and again", "--json").json["conversation"] == first
    assert run("-p", "anew", "--json").json["conversation"] != first
    assert run("-r", first, "-p", "third", "--json").json["conversation"] == first
    entries = run("conversations", "show", first, "--json").json["entries"]
    assert [entry["text"] for entry in entries if entry["role"] == "user"] == ["hello", "and again", "third"]


def test_an_unknown_conversation_is_an_error(run: Run) -> None:
    said = run("-r", "c_none", "-p", "x", "--json")
    assert said.status == 1
    assert said.json["error"]["code"] == "not_found"


def test_a_dead_server_is_told_in_each_form_and_the_message_is_kept(run: Run) -> None:
    model = "openai:x@http://127.0.0.1:9/v1"
    text = run("--model", model, "-p", "are you there?")
    assert text.status == 1
    assert "127.0.0.1:9" in text.err
    assert "Start the server, then ask again. Or" in text.err and "/retry" not in text.err
    error = run("--model", model, "-p", "hello?", "--json").json["error"]
    assert error["code"] == "refused" and "/retry" not in error["hint"]
    lines = run("--model", model, "-p", "hello?", "--output-format", "stream-json").out.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["user", "error"]
    assert len(run("conversations", "list", "--json").json["conversations"]) == 3


def test_a_bad_spec_is_a_misuse_told_as_json(run: Run) -> None:
    said = run("--model", "nonsense", "-p", "x", "--output-format", "json")
    assert said.status == 2
    assert said.json["error"]["code"] == "misuse"


def test_context_counts_what_would_be_sent_and_stores_nothing(run: Run, root: Path) -> None:
    run("remember", "The boiler is serviced in May.")
    told = run("context", "When is the boiler serviced?", "--json").json
    assert [layer["name"] for layer in told["layers"]] == ["system", "project", "conversation", "message"]
    assert sum(layer["tokens"] for layer in told["layers"]) == told["total_tokens"]
    assert told["total_tokens"] <= told["window"] - told["reserve"]
    for name in ("model", "zones", "messages", "prefix_sha256", "unchanged_prefix_tokens", "previous_tokens"):
        assert name in told
    assert run("stats", "--json").json["entries"] == 0


def test_slash_commands_run_without_a_screen(run: Run) -> None:
    assert "/recall" in run("-p", "/help").out
    assert run("-p", "/remember The cat is called Ada.").status == 0
    assert "Ada" in run("-p", "/recall cat").out
    found = run("-p", "/search cat", "--json").json
    assert found["type"] == "command"
    assert found["choices"]
    wrong = run("-p", "/serach cat", "--json")
    assert wrong.status == 2
    assert "/search" in wrong.json["error"]["hint"]
    assert "offline" in run("-p", "/status").out
    assert "layer" in run("-p", "/context what").out


def test_undo_tells_a_program_how_many_files_it_restored(run: Run, root: Path, tmp_path: Path) -> None:
    told = run("-p", "hello", "--json").json
    project = tmp_path / "somewhere"
    project.mkdir()
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock())
    checkpoints.begin_turn(told["conversation"], told["entry"])
    checkpoints.apply([FileChange(folder=project.resolve(), path="a", expected=None, new=b"1\n")], "e_1")
    undone = run("-c", "-p", "/undo", "--json")  # outside of the project folders: it stays
    assert (undone.status, undone.json["counts"]) == (1, {"restored": 0, "merged": 0, "left": 1})
    again = run("-c", "-p", "/undo", "--json")
    assert (again.status, "Nothing left to undo:" in again.json["text"]) == (0, True)


def test_bytes_that_are_no_text_survive_from_the_command_line_to_the_export(run: Run) -> None:
    told = run("-p", "caf\udce9 \ud800", "--output-format", "stream-json")
    assert told.status == 0, told.err
    assert told.out.isascii()
    entries = run("conversations", "list", "--json").json["conversations"]
    assert run("conversations", "show", entries[0]["id"], "--json").json["entries"][0]["text"] == "caf\udce9 \ud800"
    assert run("remember", "caf\udce9").status == 0
    assert run("search", "caf\udce9", "--json").status == 0
    assert run("export", "--to", "jsonl").out.isascii()


def test_a_path_is_a_message(run: Run) -> None:
    said = run("-p", "/etc/hosts is a file", "--json")
    assert said.json["type"] == "result"


def test_models_are_listed_chosen_and_tested(run: Run, tmp_path: Path) -> None:
    assert any(model["in_use"] for model in run("models", "list", "--json").json["models"])
    assert run("models", "test", "--json").json["text"]
    assert run("models", "use", "ollama:llama3.2").status == 0
    assert "ollama:llama3.2" in (tmp_path / "user-config" / "config.yaml").read_text()
    assert run("models", "use", "nonsense").status == 2
    dead = run("models", "test", "openai:x@http://127.0.0.1:9/v1", "--json")
    assert dead.status == 1
    assert dead.json["error"]["hint"] and "/retry" not in dead.json["error"]["hint"]


def test_memory_is_recalled_without_a_screen(run: Run) -> None:
    run("remember", "The boiler is serviced in May.")
    assert "serviced in May" in run("-p", "/recall boiler").out
    assert "No results" in run("-p", "/recall zeppelin").out
    assert "serviced in May" in run("-p", "/recall boiler", "--json").json["text"]
    nothing = run("-p", "/recall")
    assert nothing.status == 2
    assert "/recall needs a query or a reference" in nothing.err


def test_turns_are_archived_without_a_screen_and_without_asking(run: Run, tmp_path: Path) -> None:
    lines = [
        {
            "id": f"t{n}",
            "conversation": "garden",
            "role": "user" if n % 2 == 0 else "assistant",
            "text": f"Bed {n}: " + "radishes in March, beans after the last frost. " * 20,
        }
        for n in range(24)
    ]
    talk = tmp_path / "talk.jsonl"
    talk.write_text("\n".join(json.dumps(line) for line in lines))
    run("import", str(talk))
    garden = run("conversations", "list", "--json").json["conversations"][0]["id"]
    said = run("-r", garden, "-p", "/archive Spring plans")
    assert said.status == 0, said.err
    assert "Archived" in said.out
    assert "Spring plans" in said.out
    archives = run("archive", "--list", "--json").json["archives"]
    assert [archive["label"] for archive in archives] == ["Spring plans"]


def test_what_an_unclosed_tag_hides_is_said_at_once_with_its_length(run: Run) -> None:
    for form in ("text", "json", "stream-json"):
        said = run("-p", "before <private> zork after", "--output-format", form)
        assert said.status == 0
        assert "<private> is not closed: the 11 characters after it" in said.err
    assert "is not closed" not in run("-p", "before <private>zork</private> after").err
    pasted = "a <palimpsest-recalled trust='exact'>\nzork words\n</palimpsest-recalled> b"
    assert "characters between <palimpsest-…> tags are not" in run("-p", pasted).err
    assert "is not closed" in run("remember", "note <private> zork").err


def test_a_conversation_that_is_not_there_fails_and_sends_nothing(run: Run) -> None:
    said = run("-p", "--resume", "nope", "hi", "--json")
    assert (said.status, said.json["error"]["code"]) == (1, "not_found")
    assert run("conversations", "list", "--json").json["conversations"] == []
