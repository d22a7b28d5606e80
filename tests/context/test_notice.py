"""What is said on screen about the workspace's files: in whole sentences, once, and on the right line."""

import pytest

from context.sources.system_yaml import BrokenSystemFile, parse_system_yaml
from foundation.privacy import clear
from tests.context.conversation import Talk


def said(talk: Talk, *, sending: bool = False) -> list[str]:
    return [str(notice) for notice in talk.context.reload(sending=sending)]


def test_a_changed_file_is_told_in_a_sentence(talk: Talk) -> None:
    for name, text in (("AGENTS.md", "Be kind."), ("MEMORY.md", "# Tea\nAnn"), ("system.yaml", "abilities: [a]")):
        talk.write(name, text)
    assert said(talk) == []
    talk.write("AGENTS.md", "Be kinder.")
    assert said(talk) == ["AGENTS.md changed. The model will read it all again."]
    talk.write("MEMORY.md", "# Tea\nBo")
    assert said(talk) == ["MEMORY.md changed. The changes are sent with your next message."]
    for name in ("Di", "Eve"):
        talk.write("MEMORY.md", f"# Tea\n{name}")
        assert said(talk) == [], "the same notice holds for it"
    assert said(talk, sending=True) == []
    talk.write("MEMORY.md", "# Tea\nCy")
    assert said(talk, sending=True) == ["MEMORY.md changed. The changes are sent with this message."]
    talk.write("system.yaml", "abilities: [b]")
    assert said(talk) == ["system.yaml changed. The new version is used from now on."]
    talk.workspace.agents_md.unlink()
    assert said(talk) == ["AGENTS.md was removed. The model will read it all again."]


def test_what_the_program_remembers_is_not_told_as_a_change(talk: Talk) -> None:
    assert said(talk) == []
    talk.memory.hot.remember(clear("Ann drinks tea"))
    assert said(talk) == []


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('abilities:\n  - "You sing\nrules: []\n', 2, "quotation mark"),
        ("abilities:\n  - a\nrules: [\n\n", 3, "bracket"),
        ("abilities: {", 1, "bracket"),
        ("abilities:\n  - a\n b: [", 3, "expected"),
    ],
)
def test_what_is_not_closed_is_told_where_it_opens(text: str, line: int, what: str) -> None:
    with pytest.raises(BrokenSystemFile) as broken:
        parse_system_yaml(text)
    assert broken.value.problem.line == line and what in broken.value.problem.text
