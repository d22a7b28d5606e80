"""Each complaint of tests/tui/screen-complaints.md names a test that there is, or says why it cannot occur."""

import re

from tests.paths import ROOT

PAGE = (ROOT / "tests" / "tui" / "screen-complaints.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| complaint")]


def test_each_complaint_names_a_test_that_exists() -> None:
    assert len(ROWS) > 40
    for row in ROWS:
        complaint, answer, test = (cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        assert complaint
        assert answer
        path, _, name = test.strip("`").partition("::")
        assert re.search(rf"def {name}\(", (ROOT / path).read_text("utf-8")), row


def test_no_complaint_is_listed_twice_and_what_cannot_occur_says_why() -> None:
    complaints = [row.split("|")[1].strip() for row in ROWS]
    assert len(set(complaints)) == len(complaints)
    reasons = re.findall(r"(?m)^- \*(.+?)\*(.*(?:\n  .*)*)", PAGE.partition("## Cannot occur")[2])
    assert reasons
    assert all(len(reason.split()) > 5 for _, reason in reasons)
