"""Changing settings: in the user's file or the workspace's, and taking a change back."""

from pathlib import Path

import pytest

from agent.config.common_settings import COMMON
from agent.config.config import read_config, user_config
from agent.config.edit import parse_value, removed_from_text
from agent.config.files import ConfigError
from agent.config.settings import all_settings
from agent.config.workspaces import prepare_workspace
from agent.services.settings import change_setting, setting_rows, written_value
from foundation.errors import Misuse
from foundation.paths import Workspace


@pytest.fixture
def place(tmp_path: Path) -> tuple[Workspace, dict[str, str]]:
    workspace, environment = Workspace(tmp_path / "work"), {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    prepare_workspace(workspace, environment)
    return workspace, environment


Place = tuple[Workspace, dict[str, str]]


def test_every_setting_has_a_row_and_the_common_ones_come_first(place: Place) -> None:
    rows = setting_rows(*place)
    assert {row.setting.name for row in rows} == set(all_settings())
    assert len(COMMON) == 15
    assert [(row.setting.name, row.title) for row in rows if row.title] == list(COMMON.items())
    assert all(row.title for row in rows[: len(COMMON)])
    assert not any(row.is_changed for row in rows)


@pytest.mark.parametrize("name", sorted(all_settings()))
def test_a_value_is_read_as_it_is_written(name: str, place: Place) -> None:
    row = next(row for row in setting_rows(*place) if row.setting.name == name)
    if row.written:
        assert written_value(parse_value(row.setting, row.written)) == row.written


@pytest.mark.parametrize("user", [True, False])
def test_a_change_and_its_taking_back(user: bool, place: Place) -> None:
    workspace, environment = place
    file = user_config(environment) if user else workspace.config
    row = change_setting(*place, "models.window", "8192", user=user)
    assert (row.written, row.origin, row.of_workspace) == ("8192", f"{file}, line 2", not user)
    row = change_setting(*place, "models.window", None, user=user)
    assert (row.written, row.is_changed) == ("0", False)
    assert file.read_text(encoding="utf-8") == ""


def test_the_workspaces_value_outranks_the_users_and_is_what_the_row_tells(place: Place) -> None:
    change_setting(*place, "models.window", "8192", user=False)
    assert change_setting(*place, "models.window", "4096", user=True).written == "8192"
    assert change_setting(*place, "models.window", None, user=False).written == "4096"


def test_a_list_and_a_mapping_are_written_as_in_yaml() -> None:
    assert parse_value(all_settings()["screen.keys"], "{chat.search: ctrl+o}") == {"chat.search": "ctrl+o"}
    for wrong in ("chat.search", "{chat.search: ["):
        with pytest.raises(Misuse, match="Use: mapping"):
            parse_value(all_settings()["screen.keys"], wrong)


RULE_FIELDS = "kind, label, pattern, archive_days, delete_days"
WRONG_PARTS = [
    (
        "retention.rules",
        "[{kind: nonsense, delete_days: 5}]",
        "entry 1, `kind`: 'nonsense' is not valid. Allowed: one of ",
    ),
    (
        "retention.rules",
        "[{delete_days: -1}]",
        "entry 1, `delete_days`: -1 is not valid. Allowed: whole number, at least",
    ),
    ("retention.rules", "[{label: a}, {foo: 1}]", f"entry 2, `foo`: unknown field. Allowed: {RULE_FIELDS}."),
    ("retention.rules", "[{label: a}, trip]", "entry 2: 'trip' is not valid. Allowed: mapping."),
    (
        "screen.keys",
        "{chat.find: ctrl+o, chat.search: {a: b}}",
        "`chat.search`: {'a': 'b'} is not valid. Allowed: text.",
    ),
    (
        "hooks.Stop",
        "[{hooks: [{type: command, command: [1]}]}]",
        "entry 1, `hooks`, entry 1, `command`: [1] is not valid.",
    ),
    ("hooks.Stop", "[{matcher: '*'}]", "entry 1, `hooks`: missing field. Allowed: list."),
]


@pytest.mark.parametrize(("name", "text", "sentence"), WRONG_PARTS)
def test_the_wrong_part_of_a_list_or_a_mapping_is_named(name: str, text: str, sentence: str, place: Place) -> None:
    with pytest.raises(Misuse) as error:
        parse_value(all_settings()[name], text)
    assert error.value.message.startswith(f"`{name}`, {sentence}"), error.value.message
    section, _, key = name.partition(".")
    file = user_config(place[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{section}:\n  {key}: {text}\n", encoding="utf-8")
    (problem,) = read_config(*place, {}).problems
    assert problem.sentence == error.value.message, "in a file it is the same sentence"


@pytest.mark.parametrize("name", ["retention.rules", "hooks.Stop"])
def test_a_value_that_is_no_list_is_none_as_a_whole(name: str) -> None:
    with pytest.raises(Misuse, match=f"“trip” is not a valid value of `{name}`. Use: list"):
        parse_value(all_settings()[name], "trip")


def test_a_secret_is_not_set_and_not_shown(place: Place) -> None:
    with pytest.raises(Misuse, match="contains a key or a password"):
        change_setting(*place, "models.ocr_server", "openai:a@http://me:secret@127.0.0.1:1/v1", user=True)
    file = user_config(place[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("models:\n  ocr_server: openai:a@http://me:secret@127.0.0.1:1/v1\n", encoding="utf-8")
    row = next(row for row in setting_rows(*place) if row.setting.name == "models.ocr_server")
    assert row.is_secret
    assert "me:secret" not in row.written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("models:\n  window: 5\n", ""),
        ("# mine\nmodels:\n  window: 5 # five\n  retries: 2\n", "# mine\nmodels:\n  retries: 2\n"),
        ("models:\n  retries: 2\n  window: 5\nmodel: offline\n", "models:\n  retries: 2\nmodel: offline\n"),
        ("model: offline\nmodels:\n  window: 5", "model: offline\n"),
        ("model: offline\n", "model: offline\n"),
        ("models: {window: 5}\n", None),
        ("models:\n  window: 5\n  retries: 2  # two\n\n# the end\n", "models:\n  retries: 2  # two\n\n# the end\n"),
    ],
)
def test_only_its_lines_are_taken_out(before: str, after: str | None) -> None:
    sections = frozenset({"models"})
    if after is None:
        with pytest.raises(ConfigError, match="The file uses YAML that cannot"):
            removed_from_text(before, "models.window", Path("config.yaml"), sections)
        return
    assert removed_from_text(before, "models.window", Path("config.yaml"), sections) == after


def test_the_file_as_it_was_is_kept(place: Place) -> None:
    workspace, _ = place
    change_setting(*place, "models.window", "8192", user=False)
    change_setting(*place, "models.window", None, user=False)
    kept = [path.read_text(encoding="utf-8") for path in workspace.versions.glob("config-*.yaml")]
    assert kept == ["models:\n  window: 8192\n"]
