"""When an epoch ends, why, and what the tail tells instead."""

from pathlib import Path

import pytest

from tests.context.conversation import Talk, begins_with, texts


def note(talk: Talk, n: int, text: str) -> None:
    path = talk.workspace.memory_md
    held = path.read_text(encoding="utf-8") if path.exists() else "# Memory\n"
    path.write_text(f"{held}\n<!-- 2026-03-14T10:0{n}:00Z -->\n## Note {n}\n- {text}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("system.yaml", "abilities: [You sing.]", "system.yaml changed"),
        ("AGENTS.md", "Be slow.", "AGENTS.md changed"),
        ("SOUL.md", "Be cold.", "SOUL.md changed"),
    ],
)
def test_an_edit_of_the_head_begins_an_epoch(talk: Talk, name: str, text: str, why: str) -> None:
    talk.write("system.yaml", "abilities: [You help.]")
    first = talk.send("One.")
    assert first.epoch_changed == ""
    talk.write(name, text)
    second = talk.send("Two.")
    assert second.epoch_changed == why
    assert second.report.unchanged_prefix_tokens < second.report.previous_tokens
    third = talk.send("Three.")
    assert third.epoch_changed == "" and begins_with(third.request, second.request)


def test_a_change_of_rules_alone_leaves_the_head(talk: Talk) -> None:
    talk.write("system.yaml", "abilities: [You help.]")
    talk.send("One.")
    talk.write("system.yaml", "abilities: [You help.]\nrules:\n  - {when: {keyword: two}, then: [Count.]}")
    second = talk.send("Two.")
    assert second.epoch_changed == "" and "Count." in texts(second)[-1]


def test_a_change_of_model_or_tools_begins_an_epoch(talk: Talk) -> None:
    from models.messages import Tool

    talk.send("One.")
    talk.tools = (Tool("recall", "Bring back.", {}),)
    assert talk.send("Two.").epoch_changed == "the tools changed"
    talk.profile = talk.profile.__class__(spec="openai:other", name="other", window=8192, tools=True)
    assert talk.send("Three.").epoch_changed == "the model changed"


def test_another_process_goes_on_with_the_same_head(talk: Talk) -> None:
    note(talk, 1, "Ann drinks tea")
    first = talk.send("One.")
    note(talk, 2, "Bo drinks coffee")
    talk.reopen()
    second = talk.send("Two.")
    assert second.epoch_changed == "" and begins_with(second.request, first.request)
    assert "Bo drinks coffee" not in texts(second)[0]
    assert "Bo drinks coffee" in texts(second)[-1]


def test_a_change_in_memory_is_told_once_in_the_tail(talk: Talk) -> None:
    note(talk, 1, "Ann drinks tea")
    talk.send("One.")
    note(talk, 2, "Bo drinks coffee")
    second = talk.send("Two.")
    assert "<palimpsest-changes>" in texts(second)[-1] and "Bo drinks coffee" in texts(second)[-1]
    assert "changes" in [source.name for source in second.report.layers[1].sources]
    talk.reopen()
    assert "<palimpsest-changes>" not in texts(talk.send("Three."))[-1]


def test_a_change_told_on_another_branch_is_told_again(talk: Talk) -> None:
    note(talk, 1, "Ann drinks tea")
    talk.send("One.")
    assert talk.conversation is not None
    fork = talk.leaf
    note(talk, 2, "Bo drinks coffee")
    talk.send("Two.")
    talk.memory.cold.set_leaf(talk.conversation.seq, fork)
    assert "Bo drinks coffee" in texts(talk.send("Two, otherwise."))[-1]


def test_a_note_taken_back_is_told_too(talk: Talk) -> None:
    note(talk, 1, "Ann drinks tea")
    held = talk.workspace.memory_md.read_text(encoding="utf-8")
    talk.send("One.")
    note(talk, 2, "Bo drinks coffee")
    talk.send("Two.")
    talk.workspace.memory_md.write_text(held, encoding="utf-8")
    told = texts(talk.send("Three."))[-1]
    assert "was removed." in told and "replaces: Bo drinks coffee" in told
    assert "<palimpsest-changes>" not in texts(talk.send("Four."))[-1]


def test_a_broken_system_yaml_leaves_the_last_good_one(talk: Talk) -> None:
    talk.write("system.yaml", "abilities: [You sing.]")
    first = talk.send("One.")
    talk.write("system.yaml", "abilities:\n  - a\n b: [")
    (notice,) = talk.context.reload()
    assert notice.level == "error" and notice.path == "system.yaml" and notice.line == 3
    assert "the last valid version is used" in notice.text and str(notice).startswith("system.yaml:3: ")
    assert talk.context.reload() == ()
    assert begins_with(talk.send("Two.").request, first.request)


def test_the_last_good_system_yaml_outlives_the_process(talk: Talk) -> None:
    talk.write("system.yaml", "abilities: [You sing.]")
    first = talk.send("One.")
    talk.write("system.yaml", "abilities: {")
    talk.reopen()
    second = talk.send("Two.")
    assert second.epoch_changed == "" and begins_with(second.request, first.request)
    assert "You sing." in texts(talk.preview("x"))[0]


def test_a_system_yaml_that_never_was_good_leaves_the_default(talk: Talk) -> None:
    talk.write("system.yaml", "abilities: {")
    (notice,) = [one for one in talk.context.reload() if one.level == "error"]
    assert "the default is used" in notice.text
    assert texts(talk.preview("x"))[0].startswith("You are Palimpsest")


def test_a_file_that_changed_is_told_quietly(talk: Talk) -> None:
    talk.write("AGENTS.md", "Be kind.")
    assert talk.context.reload() == ()
    talk.write("AGENTS.md", "Be kinder.")
    (notice,) = talk.context.reload()
    assert (notice.level, notice.path) == ("info", "AGENTS.md")
    assert talk.context.reload() == ()


def test_a_file_written_again_with_the_same_words_says_nothing(talk: Talk) -> None:
    talk.write("AGENTS.md", "Be kind.")
    talk.send("One.")
    Path(talk.workspace.agents_md).touch()
    assert talk.context.reload() == ()
    assert talk.send("Two.").epoch_changed == ""


def test_a_large_output_of_a_command_leaves_the_summary_in_view(talk: Talk) -> None:
    for number in range(6):
        talk.send(f"Question {number} about the harbour?", f"Answer {number}. " + "The harbour is deep. " * 20)
    assert talk.compact() is not None
    talk.send("And then?")
    talk.send("Run it.", None)
    talk.call_tool("call_1", "行\n" * 60_000, shown="行\n … 60,000 lines")
    talk.go_on("It ran.")
    for message in ("Thanks.", "What next?"):
        now = talk.send(message)
        assert now.epoch_changed == ""
    assert any("Question 0" in text for text in texts(now)), "the summary of the older turns"
