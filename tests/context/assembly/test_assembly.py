"""Four layers in four zones: what stands where, what counts where, and what is said about what did not fit."""

import json
import os

import pytest
from msgspec import structs

from context import Attachment, Turn
from context.errors import NoSuchSkill, RequestTooLarge
from foundation.workspace_trust import trust_store
from models.chat.openai.request import messages
from models.chat.text_tools.prompt import with_questions
from models.messages import RecalledSpan, Role, Text, Tool
from models.tokens import request_tokens
from tests.context.conversation import Talk, begins_with, texts

SYSTEM = """\
version: 1
abilities: [You keep the user's notes.]
rules:
  - name: flights
    when: {entity: flight_number}
    then: [Say when check-in opens.]
"""


def test_the_four_layers_are_reported_in_order(talk: Talk) -> None:
    talk.write("system.yaml", SYSTEM)
    talk.write("AGENTS.md", "You are careful.")
    talk.write("SOUL.md", "You are warm.")
    talk.write("MEMORY.md", "# Memory\n\n<!-- 2026-03-01T10:00:00Z -->\n## Tea\n- Ann drinks tea\n")
    report = talk.send("When does CA1234 leave?").report
    assert [layer.name for layer in report.layers] == ["system", "project", "conversation", "message"]
    system, project, conversation, message = report.layers
    assert [source.name for source in system.sources] == ["opening", "system.yaml", "system.yaml: flights"]
    assert [source.name for source in project.sources] == ["AGENTS.md", "SOUL.md", "MEMORY.md"]
    assert conversation.tokens == 0
    assert [source.name for source in message.sources] == ["message"]
    assert json.loads(json.dumps(report.as_json()))["total_tokens"] == report.total_tokens


def test_the_head_is_one_message_and_the_tail_another(talk: Talk) -> None:
    talk.write("system.yaml", SYSTEM)
    talk.send("Hello.")
    request = talk.send("When does CA1234 leave?").request
    assert request.zones == (1, 1, 3, 4)
    assert [message.role for message in request.messages] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert texts(request)[0] == "You keep the user's notes."
    assert texts(request)[3] == (
        "<palimpsest-instructions>\nSay when check-in opens.\n</palimpsest-instructions>\n\nWhen does CA1234 leave?"
    )


def test_a_rule_that_an_earlier_message_completes_joins(talk: Talk) -> None:
    when = "{entity: flight_number, keyword: 登机}"
    talk.write("system.yaml", f"rules:\n  - when: {when}\n    then: [Go through the check-in steps.]\n")
    talk.send("我明天坐 CA1234")
    assert "Go through" not in texts(talk.preview("几点了?"))[-1]
    assert "Go through the check-in steps." in texts(talk.send("帮我办理登机"))[-1]
    talk.send("好的")
    assert "Go through" not in texts(talk.send("办理登机"))[-1]  # the flight was four messages ago


def test_a_rule_sees_only_what_the_person_wrote_and_the_beginning_of_long_texts(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    when = "{entity: flight_number, keyword: 登机}"
    talk.write("system.yaml", f"rules:\n  - when: {when}\n    then: [Go through the check-in steps.]\n")
    talk.send("Any flight?", answer="我明天坐 CA1234")
    assert "Go through" not in texts(talk.send("帮我办理登机"))[-1]
    talk.send("我明天坐 CA1234")
    monkeypatch.setattr("context.assembly.gather._EARLIER_CHARACTERS", 5)
    assert "Go through" not in texts(talk.preview("帮我办理登机"))[-1]


def test_private_text_of_the_rules_is_not_sent(talk: Talk) -> None:
    hidden = "Be kind. <private>The gate code is 1234.</private>"
    talk.write("system.yaml", f"abilities: ['{hidden}']\nrules:\n  - when: {{keyword: gate}}\n    then: ['{hidden}']\n")
    sent = texts(talk.send("Open the gate"))
    assert sum("Be kind." in text for text in sent) == 2 and not any("1234" in text for text in sent)
    assert not any("Be kind." in text for text in texts(talk.preview("And now?"))[2:]), "its lines are known in view"


def test_a_rule_that_only_an_earlier_message_matches_is_not_repeated(talk: Talk) -> None:
    talk.write("system.yaml", SYSTEM)
    talk.send("When does CA1234 leave?")
    assembled = talk.send("帮我办理登机")
    assert sum("Say when check-in opens." in text for text in texts(assembled)) == 1
    assert "Say when" not in texts(assembled)[-1]
    assert "Say when check-in opens." in texts(talk.send("And CA1235?"))[-1]


def test_a_rule_that_only_an_earlier_message_matches_joins_where_its_lines_are_new(talk: Talk) -> None:
    talk.send("When does CA1234 leave?")
    talk.write("system.yaml", SYSTEM)
    assert "Say when check-in opens." in texts(talk.send("帮我办理登机"))[-1]


def test_without_any_file_the_default_holds(talk: Talk) -> None:
    (head, _) = texts(talk.send("Hello."))
    assert head.startswith("You are Palimpsest")


def test_a_preview_stores_nothing(talk: Talk) -> None:
    talk.write("system.yaml", SYSTEM)
    talk.send("Hello.")
    before = sorted(path.name for path in talk.workspace.state.iterdir())
    changes = talk.memory.cold.last_change()
    first, second = talk.preview("One."), talk.preview("Two, and longer.")
    assert talk.memory.cold.last_change() == changes
    assert sorted(path.name for path in talk.workspace.state.iterdir()) == before
    assert first.report.prefix_sha256 == second.report.prefix_sha256
    assert first.request.messages[:3] == second.request.messages[:3]


def test_a_preview_without_a_conversation_shows_the_head(talk: Talk) -> None:
    talk.write("AGENTS.md", "You are careful.")
    assembled = talk.preview("")
    assert [zone.messages for zone in assembled.report.zones] == [1, 0, 0, 1]


def test_tools_count_to_the_system_and_stand_in_the_request(talk: Talk) -> None:
    bare = talk.preview("Hello.").report.layers[0].tokens
    talk.tools = (Tool("recall", "Bring back a passage.", {"type": "object"}),)
    assembled = talk.preview("Hello.")
    assert assembled.request.tools == talk.tools
    assert assembled.report.layers[0].tokens > bare
    assert "tools (1)" in [source.name for source in assembled.report.layers[0].sources]


@pytest.mark.parametrize("window", [512, 1024, 2048, 4096, 32_768])
def test_every_window_holds_its_request(talk: Talk, window: int) -> None:
    talk.profile = talk.profile.__class__(spec="x:y", name="y", window=window)
    talk.write("AGENTS.md", "\n".join(f"Rule {n}: be careful with number {n}." for n in range(400)))
    notes = "".join(f"\n<!-- 2026-03-{n % 28 + 1:02d}T10:00:00Z -->\n## Note {n}\n- fact {n}\n" for n in range(200))
    talk.write("MEMORY.md", "# Memory\n" + notes)
    report = talk.preview("Hello.").report
    assert report.total_tokens <= report.window - report.reserve
    if window <= 4096:
        project = report.layers[1]
        assert {dropped.name.split(":")[0] for dropped in project.dropped} == {"AGENTS.md", "MEMORY.md"}
        assert all(dropped.tokens > 0 and dropped.why for dropped in project.dropped)


def test_of_a_large_memory_the_newest_notes_stand_in_the_head(small_talk: Talk) -> None:
    notes = [f"<!-- 2026-03-{n:02d}T10:00:00Z -->\n## Note {n}\n- fact {n} {'word ' * 20}\n" for n in range(1, 29)]
    small_talk.write("MEMORY.md", "# Memory\n\n" + "\n".join(notes))
    head = texts(small_talk.preview("Hello."))[1]
    assert "## Note 28" in head and "## Note 1\n" not in head
    assert "older notes can be searched" in head


def test_a_message_larger_than_the_window_is_told_with_figures(small_talk: Talk) -> None:
    small_talk.send("Hello.")
    with pytest.raises(RequestTooLarge) as caught:
        small_talk.preview("word " * 5000)
    error = caught.value
    assert "5,0" in error.message and "2,048" in error.message and "512" in error.message
    assert "The message is saved" in error.hint and "horten" not in error.hint


def test_a_large_attachment_is_cut_and_says_so(small_talk: Talk) -> None:
    text = "\n".join(f"line {n} of a long report" for n in range(2000))
    assembled = small_talk.preview("Sum this up.", attachments=(Attachment("report.txt", "text/plain", text.encode()),))
    lines = texts(assembled)[-1].splitlines()
    shown = [line for line in lines if line.startswith("line ")]
    assert shown[0] == "line 0 of a long report"
    assert f"… (lines 1–{len(shown)} of 2,000; the rest is not in this request)" in lines
    (notice,) = assembled.notices
    assert str(notice) == f"report.txt: lines 1–{len(shown)} of 2,000 sent, the rest is not sent."
    (dropped,) = assembled.report.layers[3].dropped
    assert dropped.name == "attachment report.txt" and dropped.tokens > 5000


def test_a_skill_joins_by_name_or_by_its_trigger_once(talk: Talk) -> None:
    talk.write(
        "skills/packing/SKILL.md", "---\nname: packing\ndescription: Lists.\ntriggers: [pack]\n---\nCount days.\n"
    )
    trust_store(os.environ).trust(talk.workspace, "")
    assert "- packing: Lists." in texts(talk.preview("Hi."))[0]
    assert "Count days." in texts(talk.send("Help me pack."))[-1]
    assert "Count days." not in texts(talk.send("pack more"))[-1]  # it is in view
    named = talk.send("Again.", skill="Packing")
    assert "<palimpsest-skill>\npacking\nCount days.\n</palimpsest-skill>" in texts(named)[-1]
    assert "skill packing" in [source.name for source in named.report.layers[1].sources]
    with pytest.raises(NoSuchSkill, match="unpacking"):
        talk.preview("Hi.", skill="unpacking")


def test_a_picture_goes_to_a_model_that_sees_and_is_counted(talk: Talk) -> None:
    from io import BytesIO

    from PIL import Image as Pillow

    from models.chat.port import ImageRule, Profile

    held = BytesIO()
    Pillow.new("RGB", (640, 480)).save(held, "PNG")
    picture = Attachment("photo.png", "image/png", held.getvalue())
    talk.profile = Profile(spec="x:y", name="y", window=8192, images=ImageRule.QWEN3)
    assembled = talk.send("What is this?", attachments=(picture,))
    assert assembled.report.layers[3].tokens >= 300  # 20 × 15 patches
    assert talk.send("And now?").request.messages[: len(assembled.request.messages)] == assembled.request.messages


def test_what_was_private_is_sent_and_never_stored(talk: Talk) -> None:
    assembled = talk.send("my pin is <private>4711-secret</private>, note it")
    assert "4711-secret" in texts(assembled)[-1]
    assert "4711-secret" in texts(talk.send("and again"))[1]  # the prefix holds in this process
    for path in talk.workspace.state.rglob("*"):
        assert not path.is_file() or b"4711-secret" not in path.read_bytes()
    talk.reopen()
    assert "[private]" in texts(talk.send("later"))[1]


def test_what_is_private_in_an_attachment_is_sent_and_never_stored(talk: Talk) -> None:
    held = Attachment(
        "a.txt", "text/plain", b"door <private>code 4711-secret</private> and ghp_" + b"a1B2c3D4e5" * 3 + b"f6G7h8"
    )
    first = talk.send("Read this.", attachments=(held,))
    assert "4711-secret" in texts(first)[-1]
    assert begins_with(talk.send("And?").request, first.request)
    for path in talk.workspace.state.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert b"4711-secret" not in data and b"ghp_a1B2" not in data


def test_a_lone_surrogate_passes_through(talk: Talk) -> None:
    first = talk.send("odd \ud800 text")
    assert begins_with(talk.send("And?").request, first.request)


def test_recall_stands_in_the_tail_under_message(talk: Talk) -> None:
    parts = [part for part in talk.send("Hello.").request.messages[-1].parts if isinstance(part, RecalledSpan)]
    assert parts == []
    assert isinstance(talk.assembled and talk.assembled.request.messages[-1].parts[-1], Text)


def test_a_turn_that_was_never_answered_leaves_roles_alternating(talk: Talk) -> None:
    talk.send("First?", None)
    request = talk.send("Second?").request
    assert texts(request)[1:] == ["First?", "(no answer)", "Second?"]


def test_a_talk_of_two_people_has_their_names_and_no_missing_answers(talk: Talk) -> None:
    talk.send("One.", "Noted.")
    talk.append(Role.USER, "The key hangs in the shed.", speaker="Ann")
    talk.append(Role.USER, "Behind the clock?", speaker="Ben")
    talk.append(Role.ASSISTANT, "No, below it.", speaker="Ann")
    talk.append(Role.USER, "I see.", speaker="Ben")
    request = talk.preview("Where does the key hang?").request
    assert texts(request)[3:] == [
        "Ann: The key hangs in the shed.",
        "Ben: Behind the clock?",
        "Ann: No, below it.",
        "Ben: I see.",
        "I have read this conversation.",
        "Where does the key hang?",
    ]
    wire = messages(request.messages, vision=False)
    assert [message["role"] for message in wire][-5:] == ["user", "assistant", "user", "assistant", "user"]


def test_a_models_answers_get_no_name_in_a_talk_of_people(talk: Talk) -> None:
    talk.send("One.", "Noted.")
    talk.append(Role.USER, "The key hangs in the shed.", speaker="Ann")
    talk.append(Role.ASSISTANT, "I keep that in mind.", speaker="qwen3", meta={"model": "qwen3"})
    assert "I keep that in mind." in texts(talk.preview("Where?").request)


def test_the_message_itself_is_left_out_of_the_past(talk: Talk) -> None:
    talk.send("One.")
    assert talk.conversation is not None
    entry = talk.append(Role.USER, "Two.")
    turn = Turn(conversation=talk.conversation, leaf=entry.seq, entry=entry.seq, text="Two.")
    assembled = talk.context.assemble(turn, talk.profile, talk.counter)
    assert texts(assembled)[1:] == ["One.", "Fine.", "Two."]


def test_the_report_says_where_older_turns_leave(talk: Talk) -> None:
    report = talk.send("Hello.").report
    assert report.compacts_at == report.budget, "all of a small window"
    assert report.compaction_share == 1.0
    talk.settings = structs.replace(talk.settings, working_tokens=500)
    talk.reopen()
    sizes: list[tuple[int, int, bool]] = []
    for number in range(40):
        now = talk.preview("word " * 60)
        sizes.append((now.report.total_tokens, now.report.compacts_at, now.compaction is not None))
        if now.compaction:
            break
        talk.send(f"{number} " + "word " * 60)
    assert sizes[-1][2], "it was reached"
    assert all(total <= mark for total, mark, leaves in sizes if not leaves)


def test_the_message_that_is_repeated_after_tool_results_is_counted(talk: Talk) -> None:
    talk.profile = structs.replace(talk.profile, tools=False, text_tools=True)
    talk.send("How many eggs does the recipe in my notes take?", answer=None)
    talk.call_tool("read_file", "Four eggs.")
    for assembled in (talk.go_on(answer="Four."), talk.preview("And flour?")):
        request = assembled.request
        sent = structs.replace(request, messages=tuple(with_questions(request.messages)))
        assert len(sent.messages) == len(request.messages) + 1
        assert assembled.report.total_tokens == request_tokens(sent, talk.counter)
        assert sum(zone.tokens for zone in assembled.report.zones) == assembled.report.total_tokens
