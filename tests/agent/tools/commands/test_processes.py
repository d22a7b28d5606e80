"""A command ends with all that it started: at its end, at its time limit, when it is stopped, when the program dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from threading import Event

import pytest

from agent.tools.commands.commands import MAX_BACKGROUND, Commands, ended_sentence
from agent.tools.port import ToolFailure, ToolSettings
from tests.agent.tools.commands.conftest import PYTHON, MakeCommands, run, running, soon_none
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the supervisor is for POSIX systems")


def sleeper() -> str:
    """A number of seconds that no other test sleeps, by which its processes are known."""
    return f"{3000 + time.monotonic_ns() % 1_000_000_000 / 1_000_000_000:.9f}"


def test_the_exit_status_comes_first_and_both_outputs_in_order(commands: Commands) -> None:
    told = run(commands, "echo one; echo two >&2; echo three; exit 3")
    first, _, output = told.partition("\n")
    assert first.startswith("[exit 3 after ")
    assert output == "one\ntwo\nthree\n"


def test_a_signal_is_named(commands: Commands) -> None:
    assert run(commands, "kill -SEGV $$").startswith("[ended by SIGSEGV after ")


def test_it_runs_in_the_project_folder_without_input_and_without_a_terminal(commands: Commands, project: Path) -> None:
    told = run(commands, "pwd; cat; tty; ps -o sess= -p $$ | tr -d ' '; echo $$")
    _, folder, tty, session, own = told.splitlines()
    assert folder == os.path.realpath(project)
    assert tty == "not a tty"
    assert session == own


def test_no_profile_is_read(make_commands: MakeCommands, tmp_path: Path) -> None:
    (tmp_path / "rc").write_text("echo from the profile\n")
    environment = {"ENV": str(tmp_path / "rc"), "BASH_ENV": str(tmp_path / "rc"), "SHELL": "/bin/bash"}
    assert run(make_commands(environment=environment), "bash -c 'echo x'").endswith("]\nx\n")


ESCAPES = {
    "a child": "sleep {n} &",
    "a session of its own": "setsid sleep {n} &",
    "nohup": "nohup sleep {n} >/dev/null 2>&1 &",
    "a double fork": "(setsid sh -c 'sleep {n} & sleep 0.1' &) ;",
    "a trapped signal": "(trap '' TERM HUP INT; setsid sleep {n} &) ;",
    "a stopped process": "setsid sh -c 'kill -STOP $$; sleep {n}' &",
    "closed outputs": "setsid sleep {n} >&- 2>&- <&- &",
}


@pytest.mark.parametrize("how", ESCAPES)
@pytest.mark.parametrize("when", ["end", "time limit", "stop"])
def test_no_process_is_left_behind(commands: Commands, how: str, when: str) -> None:
    number = sleeper()
    start = ESCAPES[how].format(n=number)
    if when == "end":
        told = run(commands, f"{start} sleep 0.2; echo ended")
        assert told.startswith("[exit 0 after ")
        assert "left running were stopped]\nended\n" in told
    elif when == "time limit":
        told = run(commands, f"{start} sleep {number}", seconds=0.5)
        assert told.startswith("[ended at its time limit of 0.5 s; `timeout` sets it, `background` has none; ended by ")
    else:
        told = run(commands, f"{start} echo begun; sleep {number}", stop_when=lambda text: "begun" in text)
        assert told.startswith("[stopped by the user; ended by ")
        assert told.endswith("]\nbegun\n")
    assert running(number) == []


def test_what_is_left_is_counted(commands: Commands) -> None:
    number = sleeper()
    told = run(commands, f"sleep {number} & setsid sleep {number} & echo x")
    assert "2 child processes left running were stopped" in told
    assert running(number) == []


def test_a_chain_of_processes_that_each_start_the_next_is_ended(commands: Commands, project: Path) -> None:
    script = project / "chain.py"
    script.write_text(
        "import os, time\nwhile True:\n    if os.fork(): os._exit(0)\n    os.setsid(); time.sleep(0.002)\n"
    )
    run(commands, f"{PYTHON} {script}; sleep 0.3")
    assert running(str(script)) == []


def test_a_command_that_kills_its_supervisor_is_ended(commands: Commands) -> None:
    number = sleeper()
    told = run(commands, f"setsid sleep {number} & kill -9 $PPID; sleep {number}")
    assert "status unknown" in told
    assert soon_none(number) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_commands_end_with_a_program_that_is_killed(how: signal.Signals, tmp_path: Path) -> None:
    number = sleeper()
    program = f"""
import os, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
from agent.tools.commands.process import CommandProcess, Launch, shell_arguments
command = "trap '' HUP; setsid sleep {number} & sleep {number}"
CommandProcess(Launch(arguments=shell_arguments(command), folder=Path("/"), environment=dict(os.environ)), 1000)
time.sleep(0.5)
print("runs", flush=True)
time.sleep(60)
"""
    started = subprocess.Popen([PYTHON, "-c", program], stdout=subprocess.PIPE, cwd=ROOT)
    with started:
        assert started.stdout is not None
        started.stdout.readline()
        assert len(running(f"sleep {number}")) >= 2
        started.send_signal(how)
        started.wait(5)
    deadline = time.monotonic() + 6
    while running(number) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(number) == []


def test_output_is_streamed_while_it_runs(commands: Commands) -> None:
    seen: list[str] = []
    commands.run("echo one; sleep 0.4; echo two", 8, Event(), seen.append)
    assert len(seen) > 1, "it came at once"
    assert "".join(seen) == "one\ntwo\n"


def test_a_flood_is_bounded_counted_and_keeps_its_end(make_commands: MakeCommands) -> None:
    commands = make_commands(settings=ToolSettings(command_output_mb=1))
    reported: list[str] = []
    told = commands.run("seq 1 1000000; echo the end", 20, Event(), reported.append)
    whole = sum(len(f"{number}\n") for number in range(1, 1_000_001)) + len("the end\n")
    head, _, rest = told.partition("\n[… ")
    count, _, tail = rest.partition(" bytes of output are not kept (tools.command_output_mb)]\n")
    kept = len(head.split("]\n", 1)[1]) + len(tail)
    assert kept == 1024 * 1024
    assert int(count.replace(",", "")) == whole - kept
    assert "]\n1\n2\n" in head
    assert tail.endswith("1000000\nthe end\n")
    assert max(map(len, reported), default=0) <= 8_000


def test_invalid_utf8_and_control_characters_come_through_as_text(commands: Commands) -> None:
    told = run(commands, r"printf 'a\377b\033]0;t\007red\000\r\nend'")
    assert told.endswith("]\na\ufffdb\x1b]0;t\x07red\0\nend")


def test_colours_are_left_out_of_what_a_command_printed(commands: Commands) -> None:
    assert run(commands, r"printf '\033[01;34msub\033[0m 子 \033[38;5;9mred\033[m\n'").endswith("]\nsub 子 red\n")


def test_a_command_that_cannot_be_found_is_the_shells_word(commands: Commands) -> None:
    assert "exit 127" in run(commands, "no-such-program-anywhere")


def test_a_background_command_is_read_and_stopped(commands: Commands, project: Path) -> None:
    number = sleeper()
    handle = commands.start(f"echo one; until test -e go; do sleep 0.02; done; echo two; sleep {number}")
    assert read_until(commands, handle, "one") == "one\n"
    assert commands.status == "1 command runs"
    (project / "go").touch()
    assert read_until(commands, handle, "two") == "two\n"
    assert "no new output" in commands.output(handle, 0, Event(), lambda _: None)
    assert commands.stop(handle).startswith("[ended by SIGTERM after ")
    assert running(number) == []
    assert commands.status == ""
    (listed,) = commands.listed()
    assert listed.ended == "ended by SIGTERM"


def test_a_background_command_that_ends_by_itself_is_told_once(commands: Commands) -> None:
    handle, stopped = commands.start("echo 茶; sleep 0.1; exit 3"), commands.start(f"sleep {sleeper()}")
    commands.stop(stopped)
    until = time.monotonic() + 5
    while not (ended := commands.take_ended()) and time.monotonic() < until:
        time.sleep(0.02)
    assert [ended_sentence(command) for command in ended] == [
        f"The background command {handle} has ended: echo 茶; sleep 0.1; exit 3 · exit 3, 0 s"
    ]
    assert commands.take_ended() == ()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_command_ends_where_very_many_files_are_open(commands: Commands) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2_000:
        pytest.skip("no more files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2_000), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        assert run(commands, "echo 茶").endswith("]\n茶\n")
    finally:
        for handle in opened:
            os.close(handle)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def read_until(commands: Commands, handle: str, word: str) -> str:
    """What the background command prints, until the word is in it."""
    text, until = "", time.monotonic() + 5
    while word not in text and time.monotonic() < until:
        told = commands.output(handle, 0.1, Event(), lambda _: None)
        assert told.startswith("[runs for ")
        text += told.partition("]\n")[2]
    return text


def test_background_commands_are_bounded_and_end_with_the_session(commands: Commands) -> None:
    number = sleeper()
    for _ in range(MAX_BACKGROUND):
        commands.start(f"setsid sleep {number}")
    with pytest.raises(ToolFailure, match="8 background commands"):
        commands.start("true")
    commands.close()
    assert running(number) == []
    with pytest.raises(ToolFailure, match="has ended"):
        commands.start("true")


def test_closing_ends_a_command_of_a_turn_too(commands: Commands) -> None:
    number = sleeper()
    thread = threading.Thread(target=lambda: run(commands, f"sleep {number}"))
    thread.start()
    until = time.monotonic() + 3
    while not running(f"sleep {number}") and time.monotonic() < until:
        time.sleep(0.02)
    commands.close()
    thread.join(5)
    assert running(number) == []


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors by /proc")
def test_no_descriptor_and_no_thread_is_left(commands: Commands) -> None:
    run(commands, "true")
    before, threads = sum(1 for _ in Path("/proc/self/fd").iterdir()), threading.active_count()
    for _ in range(5):
        run(commands, "true")
    time.sleep(0.1)
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before
    assert threading.active_count() == threads
