"""The text beside an archive: named by its label, with nothing private in the name."""

from pathlib import Path

from foundation.privacy import Cleared
from memory.archive.write.sidecar import file_stem, keep_text


def test_a_private_label_does_not_become_a_file_name(tmp_path: Path) -> None:
    path = keep_text(tmp_path, "l <private>ZORKLABEL</private>", Cleared("words"))
    assert path.name == "l [private].md"


def test_a_label_that_begins_to_be_private_and_never_ends_is_private_to_its_end() -> None:
    assert file_stem("<private>ZORKFILE") == "[private]"


def test_a_label_is_a_name_that_every_system_takes() -> None:
    assert file_stem('a/b:c*"d"') == "a-b-c-d"
    assert file_stem("CON") == "CON-"
