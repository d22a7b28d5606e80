"""Dialogs: questions of permission and of trust, of the model, and what asks before it is done."""

from textual.pilot import Pilot

from agent.commands.forget import plan_rows
from agent.permissions.action import Access, Action, PersonQuestion
from agent.project.instructions import InstructionFile
from agent.services.trust import link_effect
from memory.forget.choice import NamedLine
from memory.forget.lineage import RECALLED
from memory.forget.plan import ForgetPlan, PlannedEntry
from memory.forgotten.journal import ForgetJob
from tests.tui.fakes import NOW
from tests.tui.pictures.acts import pushing, shown
from tests.tui.pictures.conftest import Picture
from tui.app import PalimpsestApp
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen, YesScreen
from tui.dialogs.line import LineScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.trust import ChangesScreen, InstructionsScreen, LinkScreen, ServerScreen, TrustScreen

DIFF = """--- 锅炉/dates.md
+++ 锅炉/dates.md
@@ -1,3 +1,3 @@
 # Dates 日期
-Hansen: April
+Hansen: May 🙂
"""


async def test_a_question_of_permission_with_its_numbers(picture: Picture) -> None:
    run = Action(tool="run_command", access=Access.RUN, summary="run git add 茶 👩‍💻", subject="git add 茶 👩‍💻")
    await picture(pushing(lambda: PermissionScreen(run, "No rule decides.", offers=("run_command(git add *)",))))


async def test_a_question_of_permission_with_a_diff(picture: Picture) -> None:
    edit = Action(
        tool="edit_file",
        access=Access.EDIT,
        summary="edit 锅炉/dates.md",
        subject="锅炉/dates.md",
        detail=DIFF + "".join(f" line {number}\n" for number in range(30)),
        is_diff=True,
        concern="It is outside the project.",
    )
    await picture(
        pushing(lambda: PermissionScreen(edit, "No rule matches. Mode “ask” needs your confirmation.", offers=()))
    )


async def test_a_question_of_the_model(picture: Picture) -> None:
    question = PersonQuestion("Which port is the boiler's? 锅炉用哪个端口？ 🙂", ("8080", "9090", "它自己的"))
    await picture(pushing(lambda: QuestionScreen(question)))


async def test_an_open_question_of_the_model(picture: Picture) -> None:
    question = PersonQuestion("Which port is the boiler's? 锅炉用哪个端口？ 🙂", ())
    await picture(pushing(lambda: QuestionScreen(question)))


async def test_a_workspace_that_is_not_trusted(picture: Picture) -> None:
    facts = ("It belongs to ann and holds 12 conversations with 1,204 entries.", "It brings its own config.yaml.")
    await picture(pushing(lambda: TrustScreen(("/home/ann/文档/cloned-notes 🌊", *facts))))


async def test_a_workspace_whose_configuration_lets_much_in(picture: Picture) -> None:
    facts = ("It belongs to ann and holds 12 conversations with 1,204 entries.", "It brings its own config.yaml.")
    powers = (
        "If you trust it, its configuration sets:",
        "· hooks.SessionStart: sh .palimpsest/hooks/begin.sh --with an argument --and another one --and so on",
        "· mcp.servers: notes runs python3 server.py",
        "· tools.mode: auto",
        "· tools.sandbox: false",
        *(f"· tools.sandbox_folders: /srv/folder-{number}" for number in range(8)),
        "· and 3 more, in its config.yaml",
    )
    await picture(pushing(lambda: TrustScreen(("/home/ann/文档/cloned-notes 🌊", *facts, *powers))))


async def test_changes_to_a_trusted_workspace(picture: Picture) -> None:
    setting = "· archive.storage: s3://somebody-elses-bucket/packs/with/a/long/prefix/that/does/not/fit/in/one/line"
    skills = ("skills/packing/SKILL.md is new.", "skills/old/SKILL.md was removed.")
    await picture(pushing(lambda: ChangesScreen(("config.yaml changed.", setting, *skills))))


async def test_a_link_out_of_the_workspace(picture: Picture) -> None:
    target = "/home/ann/文档/dotfiles 🌊/palimpsest/MEMORY.md"
    await picture(pushing(lambda: LinkScreen("MEMORY.md", target, link_effect("MEMORY.md"))))


async def test_an_mcp_server_that_is_not_trusted(picture: Picture) -> None:
    facts = ("python3 tools/时间.py --port 8080", "It gets TOKEN from the environment.")
    await picture(pushing(lambda: ServerScreen("时间 🕐", facts, is_changed=False)))


async def test_instructions_of_a_project_that_changed(picture: Picture) -> None:
    text = "# Rules\n\nRun `make check` before each commit.\n" + "Keep it short. 保持简短。\n" * 40
    files = [InstructionFile("/shop", name, text, "") for name in ("AGENTS.md", "前端 🎨/AGENTS.md")]
    facts = [fact for file in files for fact in file.facts]
    await picture(pushing(lambda: InstructionsScreen(facts, is_changed=True)))


async def test_archiving_is_asked_for_with_its_figures(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/archive Spring plans 春天")
        await shown(app, pilot, ProposalScreen)

    await picture(act)


async def test_a_deletion_is_asked_for(picture: Picture) -> None:
    rows = (("delete", "锅炉 🙂 The boiler: 6 entries of 2 branches"), ("kept", "Its pages in the archive."))
    await picture(pushing(lambda: YesScreen("Delete a conversation", rows, "deletes it permanently")))


async def test_a_forgetting_is_asked_for_with_its_plan(picture: Picture) -> None:
    said = ("The code of the door is bluefin-7731. 门的密码 🔑", "What was the code again? 🙂")
    entries = tuple(
        PlannedEntry(
            id=f"e_{n}", conversation="c_1", time=NOW, by="user", line=line, kind="message", why="holds the words"
        )
        for n, line in enumerate(said)
    )
    plan = ForgetPlan(
        title="“bluefin-7731”",
        job=ForgetJob(id="f_1", begun_ms=0),
        entries=entries,
        entry_count=40,
        derived=(
            PlannedEntry(
                id="e_9",
                conversation="c_2",
                time=NOW,
                by="user",
                line="Where is the key? 🙂",
                kind="message",
                why=RECALLED,
            ),
        ),
        derived_count=3,
        lines=(
            NamedLine("MEMORY.md", 12, "- The code is bluefin-7731. 密码"),
            NamedLine("memory/家.md", 3, "- 7731 🏠"),
        ),
        pages=2,
        names=1,
        kept=("AGENTS.md",),
    )
    await picture(pushing(lambda: YesScreen("Forget “bluefin-7731”?", plan_rows(plan))))


async def test_a_limit_that_was_reached(picture: Picture) -> None:
    await picture(pushing(lambda: GoOnScreen("50 calls in this turn. Continue for another 50?")))


async def test_a_line_with_its_scope(picture: Picture) -> None:
    def refuse(_text: str) -> None: ...

    await picture(
        pushing(
            lambda: LineScreen(
                "Allow a tool",
                ["A tool, or a tool with what it may do. 工具"],
                refuse,
                text="run_command(git status *)",
                example="run_command(git status *)",
                scopes=["this project", "everywhere"],
            )
        )
    )


async def test_choices_that_are_narrowed(picture: Picture) -> None:
    items = [
        ChoiceItem("a", "锅炉 🙂 The boiler", "yesterday · 6 entries"),
        ChoiceItem("b", "The harbour", "2 days ago"),
        ChoiceItem("c", "A boiler of another make, whose name does not fit into a line of eighty cells 很长", "today"),
    ]
    await picture(pushing(lambda: ChoicesScreen("Conversations", items, notes=["12 of -p are hidden"]), *"boiler"))
