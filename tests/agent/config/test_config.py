"""The configuration: who set what, what an untrusted workspace may not, and where a mistake stands."""

from pathlib import Path

import pytest

from agent.config.config import load_config, read_config, user_config
from agent.config.edit import parse_value
from agent.config.files import ConfigError
from agent.config.settings import all_settings, json_schema, value_of
from agent.config.workspaces import find_workspace, prepare_workspace
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.workspace_trust import trust_store
from memory.errors import ReadOnly
from tests.agent.conftest import Run


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "mine")}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_every_setting_has_a_default_and_a_sentence() -> None:
    for setting in all_settings().values():
        assert setting.sentence, setting.name
        assert setting.type_name


def test_later_places_win_and_each_value_knows_who_set_it(workspace: Workspace, environment: dict[str, str]) -> None:
    put(
        user_config(environment),
        "context:\n  reserve: 1\n  recall_most: 1\n  recall_passage: 100\nmodel: ollama:mine\n",
    )
    put(workspace.config, "context:\n  reserve: 2\n  recall_most: 2\n")
    environment["PALIMPSEST_CONTEXT_RESERVE"] = "3"
    reading = load_config(workspace, environment, {"model": "ollama:flag"})
    assert (reading.config.context.reserve, reading.config.context.recall_most) == (3, 2)
    assert reading.config.model == "ollama:flag"
    assert reading.origins["model"] == "--model"
    assert reading.origins["context.reserve"] == "PALIMPSEST_CONTEXT_RESERVE"
    assert reading.origins["context.recall_most"] == f"{workspace.config}, line 3"
    assert reading.origins["context.recall_passage"] == f"{user_config(environment)}, line 4"
    assert reading.origins["context.recall"] == "default"


def test_an_untrusted_workspace_may_not_name_an_address(workspace: Workspace, environment: dict[str, str]) -> None:
    put(workspace.config, "model: openai:x@http://evil.example/v1\ncontext:\n  reserve: 7\n")
    reading = load_config(workspace, environment, {})
    assert reading.config.model == "offline"
    assert reading.config.context.reserve == 7
    assert not reading.trusted
    assert reading.notices == (), "one sentence is said of the whole workspace, at its opening"

    trust_store(environment).trust(workspace, "")
    assert load_config(workspace, environment, {}).config.model == "openai:x@http://evil.example/v1"


def test_trust_is_not_kept_in_the_workspace(workspace: Workspace, environment: dict[str, str]) -> None:
    trust_store(environment).trust(workspace, "")
    assert not list(workspace.root.rglob("*"))
    assert trust_store(environment).remove(workspace)
    assert not trust_store(environment).state(workspace).trusted


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tools.most_calls", "tools:\n  most_calls: 1000000"),
        ("imports.line_mb", "imports:\n  line_mb: 90000"),
        ("imports.conversation_mb", "imports:\n  conversation_mb: 90000"),
        ("archive.max_file_mb", "archive:\n  max_file_mb: 90000"),
        ("models.limits.body_mb", "models:\n  limits:\n    body_mb: 90000"),
        ("knowledge.max_file_mb", "knowledge:\n  max_file_mb: 90000"),
        ("archive.cache", "archive:\n  cache: 900000"),
    ],
)
def test_a_workspace_that_is_not_trusted_raises_no_limit(
    workspace: Workspace, environment: dict[str, str], name: str, line: str
) -> None:
    put(workspace.config, line + "\n")
    reading = load_config(workspace, environment, {})
    assert value_of(reading.config, name) == all_settings()[name].default
    assert not reading.trusted


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("knowledge.retention_days", "knowledge:\n  retention_days: 1"),
        ("knowledge.max_vision_tokens", "knowledge:\n  max_vision_tokens: 0"),
        ("models.ocr_engine", "models:\n  ocr_engine: server"),
        ("embed.background", "embed:\n  background: false"),
        ("embed.dimensions", "embed:\n  dimensions: 8"),
        ("tools.enabled", "tools:\n  enabled: false"),
    ],
)
def test_a_workspace_that_is_not_trusted_sets_nothing_that_deletes_or_sends(
    workspace: Workspace, environment: dict[str, str], name: str, line: str
) -> None:
    put(workspace.config, line + "\n")
    reading = load_config(workspace, environment, {})
    assert value_of(reading.config, name) == all_settings()[name].default
    assert not reading.trusted


@pytest.mark.parametrize(
    "line",
    [
        "models:\n  retries: 1000000",
        "models:\n  retry_wait: 1.0e+9",
        "models:\n  longest_wait: .inf",
        "models:\n  first_byte_timeout: 1.0e+9",
        "embed:\n  query_timeout: 1.0e+9",
        "context:\n  recall_wait: 1.0e+9",
        "context:\n  recall_most: 100000000",
        "tools:\n  result_chars: 1000000000",
        "tools:\n  result_chars: -5",
    ],
)
def test_what_repeats_or_waits_has_an_end(workspace: Workspace, environment: dict[str, str], line: str) -> None:
    put(workspace.config, line + "\n")
    reading = read_config(workspace, environment, {})
    assert len(reading.problems) == 1
    assert reading.config.models.retries <= 20


def test_every_setting_of_free_text_is_guarded() -> None:
    assert all_settings()["model"].guarded
    free = {"true or false", "whole number", "number"}
    for setting in all_settings().values():
        kind = setting.type_name
        harmless = kind.startswith("one of ") or kind.split(",")[0].removesuffix(" or nothing") in free
        assert setting.guarded or harmless, setting.name


def test_a_workspace_that_was_made_here_is_trusted_and_a_found_one_is_not(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    made, found = Workspace(tmp_path / "made"), Workspace(tmp_path / "found")
    put(found.config, "model: ollama:x\n")
    prepare_workspace(made, environment)
    with pytest.raises(ReadOnly, match="not made here"):
        prepare_workspace(found, environment)
    assert trust_store(environment).state(made).trusted
    assert not trust_store(environment).state(found).trusted


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("context:\n  reserve: [1\n", 2, "bracket"),
        ("context:\n  reserve: many\n", 2, "whole number"),
        ("context:\n  high_water: 3\n", 2, "at most 1"),
        ("model: a\nmodel: b\n", 2, "twice"),
        ("- a\n", 1, "name: value"),
        ("context:\n\treserve: 1\n", 2, "tab"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line(
    workspace: Workspace, environment: dict[str, str], text: str, line: int, words: str
) -> None:
    put(user_config(environment), text)
    with pytest.raises(ConfigError) as caught:
        load_config(workspace, environment, {})
    assert f"{user_config(environment)}, line {line}:" in caught.value.message
    assert words in caught.value.message


def test_a_setting_that_is_none_is_told_and_does_no_harm(workspace: Workspace, environment: dict[str, str]) -> None:
    put(workspace.config, "context:\n  reserv: 3\n")
    environment["PALIMPSEST_CONTEXT_RESERV"] = "3"
    reading = load_config(workspace, environment, {})
    assert len(reading.notices) == 2
    assert all("did you mean" in notice for notice in reading.notices)


def test_a_bad_variable_is_a_problem_and_names_itself(workspace: Workspace, environment: dict[str, str]) -> None:
    environment["PALIMPSEST_CONTEXT_RESERVE"] = "lots"
    assert read_config(workspace, environment, {}).problems[0].location == "PALIMPSEST_CONTEXT_RESERVE"


def test_the_schema_knows_every_setting() -> None:
    schema = json_schema()
    for name, setting in all_settings().items():
        node = schema
        for part in name.split("."):
            node = node["properties"][part]
        assert node["description"] == setting.sentence
        assert node["default"] == setting.default


def test_set_keeps_comments_order_and_a_version(run: Run, root: Path) -> None:
    path = root / ".palimpsest" / "config.yaml"
    before = "# mine\ncontext:  # what goes in\n  # the answer's share\n  reserve: 100  # tokens\n\n# the end\n"
    put(path, before)
    assert run("config", "set", "context.reserve", "256").status == 0
    assert run("config", "set", "context.recall", "false").status == 0
    assert run("config", "set", "models.retries", "1").status == 0
    after = path.read_text()
    for comment in ("# mine", "# what goes in", "# the answer's share", "reserve: 256  # tokens", "# the end"):
        assert comment in after
    shown = {one["name"]: one["value"] for one in run("config", "show", "--json").json["settings"]}
    assert (shown["context.reserve"], shown["context.recall"], shown["models.retries"]) == (256, False, 1)
    versions = [version.read_text() for version in (root / ".palimpsest" / "versions").glob("config-*.yaml")]
    assert before in versions


@pytest.mark.parametrize(
    "text",
    [
        "context: {reserve: 100}\n",
        "context:\n  recall_most: &n 30\n  recall_passage: *n\n",  # one value in two places
    ],
)
def test_set_refuses_what_it_cannot_write_without_loss(run: Run, root: Path, text: str) -> None:
    path = root / ".palimpsest" / "config.yaml"
    put(path, text)
    said = run("config", "set", "context.recall_passage", "99")
    assert said.status == 1
    assert "by hand" in said.err
    assert path.read_text() == text


def test_set_refuses_a_value_that_is_none_and_makes_nothing(bare: Run, tmp_path: Path) -> None:
    said = bare("config", "set", "context.reserve", "lots", "--workspace", str(tmp_path / "new"))
    assert said.status == 2
    assert not (tmp_path / "new").exists()


def test_a_workspace_that_is_not_trusted_cannot_be_given_a_model(run: Run) -> None:
    assert run("config", "distrust").status == 0
    for words in (("config", "set", "model", "ollama:x"), ("config", "set", "context.reserve", "5")):
        assert run(*words).status == 1
    assert "palimpsest trust" in run("models", "use", "ollama:x", "--workspace-only").err
    assert run("config", "trust").status == 0
    assert run("models", "use", "ollama:x", "--workspace-only").status == 0
    assert run("config", "show", "model").out == "ollama:x\n"


def test_set_for_the_user_reaches_every_workspace(run: Run, bare: Run, tmp_path: Path) -> None:
    assert run("config", "set", "--user", "model", "ollama:x").status == 0
    bare("init", str(tmp_path / "other"))
    assert bare("config", "show", "model", "--workspace", str(tmp_path / "other")).out == "ollama:x\n"


def test_validate_says_what_is_wrong_and_exits_1(run: Run, root: Path) -> None:
    assert run("config", "validate").status == 0
    put(root / ".palimpsest" / "config.yaml", "context:\n  reserve: x\n")
    said = run("config", "validate", "--json")
    assert said.status == 1
    assert not said.json["valid"]
    assert "line 2" in said.json["problems"][0]["where"]


def test_the_nearest_folder_upwards_is_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "ws" / ".palimpsest").mkdir(parents=True)
    deep = tmp_path / "ws" / "a" / "b"
    assert find_workspace(None, {}, deep, tmp_path).root == tmp_path / "ws"
    assert find_workspace(None, {"PALIMPSEST_WORKSPACE": str(tmp_path / "x")}, deep, tmp_path).root == tmp_path / "x"
    assert find_workspace(tmp_path / "y", {"PALIMPSEST_WORKSPACE": "z"}, deep, tmp_path).root == tmp_path / "y"
    assert find_workspace(None, {}, tmp_path / "elsewhere", tmp_path).root == tmp_path / "palimpsest"


def test_init_copies_what_is_missing_and_never_over_what_is_there(bare: Run, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "AGENTS.md").write_text("mine\n")
    first = bare("init", str(root), "--json").json
    assert (root / "AGENTS.md").read_text() == "mine\n"
    assert "AGENTS.md" not in first["copied"]
    again = bare("init", str(root), "--json").json
    assert again["copied"] == []
    assert not again["new"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", "openai:m@http://u:PWzork1@127.0.0.1:8080/v1"),
        ("model", "openai:m@http://u:PW/zo@rk@127.0.0.1:8080/v1"),
        ("model", "openai:ghp_" + "a1B2" * 9),
        ("embed.embedder", "openai:e@http://u:PWzork1@127.0.0.1:8080/v1"),
        ("models.ocr_server", "openai:e@https://u:PWzork1@example.org/v1"),
    ],
)
def test_a_secret_is_no_setting_and_nothing_of_it_is_kept(run: Run, root: Path, name: str, value: str) -> None:
    for more in ((), ("--user",)):
        said = run("config", "set", name, value, *more)
        assert said.status == 2
        assert "contains a key or a password" in said.err
    kept = [file for file in root.parent.rglob("*") if file.is_file() and b"zork" in file.read_bytes()]
    assert kept == []


def test_a_secret_that_a_file_holds_is_not_shown_and_not_copied(run: Run, root: Path) -> None:
    config = root / ".palimpsest" / "config.yaml"
    config.write_text("model: openai:m@http://u:PWzork1@127.0.0.1:8080/v1\n", "utf-8")
    run("config", "trust")
    for words in (("config", "show"), ("config", "show", "model"), ("config", "show", "--json")):
        said = run(*words)
        assert "zork" not in said.out + said.err
        assert "[secret: url-password]@127.0.0.1" in said.out
    run("config", "set", "model", "offline")
    assert "zork" not in config.read_text("utf-8")
    assert [file for file in root.rglob("*") if file.is_file() and b"zork" in file.read_bytes()] == []


@pytest.mark.parametrize("name", ["observe.model", "context.summary_model"])
def test_a_setting_that_names_no_model_is_refused_by_its_name(
    name: str, workspace: Workspace, environment: dict[str, str]
) -> None:
    section, key = name.split(".")
    path = user_config(environment)
    put(path, f"{section}:\n  {key}: nonsense model\n")
    with pytest.raises(ConfigError, match=f"`{name}`: `nonsense model` does not name a model"):
        load_config(workspace, environment, {})
    put(path, f"{section}:\n  {key}: ollama:qwen3\n")
    assert value_of(load_config(workspace, environment, {}).config, name) == "ollama:qwen3"
    with pytest.raises(Misuse, match="does not name a model"):
        parse_value(all_settings()[name], "nonsense model")
    assert parse_value(all_settings()[name], "") == ""


def test_what_a_setting_takes_is_said_in_words(run: Run, root: Path) -> None:
    Workspace(root).config.write_text("tools: {mode: yolo}\nmodels: {retries: -1}\n")
    run("trust", str(root))
    done = run("config", "validate")
    assert "`models.retries` is whole number, at least 0, at most 20, not -1." in done.out + done.err
    assert "`tools.mode` is one of ask, read-only, edit, auto, plan, not 'yolo'." in done.out + done.err
    assert "Expected" not in done.out + done.err and "enum" not in done.out + done.err
