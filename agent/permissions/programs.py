"""Programs that run other commands, and the table of those whose options are known: which prefixes are offered, and by
which options they run, write or load code.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

SHELLS: Final = frozenset(
    {"sh", "bash", "zsh", "dash", "ash", "fish", "ksh", "mksh", "csh", "tcsh", "busybox", "rbash"}
)
"""They run a command line that is given as a word (`-c`), a file, or their input."""

INTERPRETERS: Final = frozenset(
    {
        *("python", "python2", "python3", "pypy", "pypy3", "ipython", "perl", "ruby", "irb", "node", "nodejs", "deno"),
        *("bun", "php", "lua", "luajit", "tclsh", "wish", "osascript", "pwsh", "powershell", "cmd", "r", "rscript"),
        *("julia", "guile", "racket", "scheme", "sbcl", "ghci", "runghc", "groovy", "scala", "jshell", "elixir", "iex"),
        *("awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb"),
        *("lldb", "psql", "sftp"),
        *("mysql", "sqlite3", "bc", "m4", "expect", "make", "gmake"),
    }
)
"""They run a program that is given as a word, a file, or their input."""

RUNNERS: Final = SHELLS | {
    *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select"),
    *("time", "coproc", "in", "[[", "]]", "eval", "exec", "source", ".", "builtin", "command", "trap", "alias"),
    *("unalias", "export", "set", "shopt", "enable", "env", "sudo", "doas", "su", "xargs", "nohup", "nice", "timeout"),
    *("setsid", "stdbuf", "watch", "parallel", "unshare", "nsenter", "chroot", "script", "expect", "ssh", "runuser"),
    *("pkexec", "sg", "setpriv", "ionice", "chrt", "taskset", "numactl", "strace", "ltrace", "gdb", "flock", "at"),
    *("batch", "crontab", "systemd-run", "faketime", "fakeroot", "proot", "bwrap", "firejail", "unbuffer", "rlwrap"),
    *("socat", "nc", "ncat", "entr", "dbus-run-session", "start-stop-daemon", "daemonize", "tmux"),
    *("screen", "caffeinate"),
    *("let", "declare", "typeset", "local", "readonly", "read", "mapfile", "readarray", "unset", "getopts", "compgen"),
    *("complete", "compopt", "bind", "hash", "fc", "history", "printf", "test", "[", "wait", "ulimit", "umask"),
    *("arch", "linux32", "linux64", "setarch", "cgexec", "prlimit", "capsh", "uid0", "machinectl", "toybox", "run0"),
}
"""They run or change other commands, or judge a word as code (`test -v 'a[$(x)]'`): no prefix rule allows them."""

TAKES_WORDS: Final = frozenset(
    {
        *("for", "select", "case", "in", "test", "[", "[[", "printf", "read", "export", "unset", "set", "local", "let"),
        *("declare", "typeset", "readonly", "mapfile", "readarray", "alias", "unalias", "function", "compgen"),
    }
)
"""Those of them that are followed by words, which are no commands."""


class Program(NamedTuple):
    """A program whose options are known.

    `options` are those (and subcommands) that run a program, write a file elsewhere, load code or choose a server: a
    prefix rule does not hold for a command with one of them, unless the rule names it. `merge/-s` is `-s` of `merge`.
    `offers` are the words that a prefix offered by the dialog has after the program, separated by commas: `*` for the
    program alone, `+` for a word of the line. `safe` are options that only sound as if they did (`_LOADS`).
    `subcommands` run nothing that they are given, as those offered.
    """

    offers: str = ""
    options: str = ""
    safe: str = ""
    subcommands: str = ""

    @property
    def prefixes(self) -> list[list[str]]:
        return [prefix.split() for prefix in self.offers.replace("*", "").split(",")] if self.offers else []


_READERS: Final = "ls cat head tail wc grep stat du df pwd which"
_SIMPLE: Final = """
echo egrep fgrep whoami id uname true false basename dirname realpath readlink cut tr nl paste rev seq comm cmp column
fold od strings md5sum sha1sum sha256sum cksum cd jq rm rmdir mkdir touch cp mv ln chmod chown tee printf test [ [[ for
in do done if then else fi : gzip gunzip zcat sleep kill ps free uptime exit
"""
_JEST: Final = """
-c --config --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --testRunner --runner --reporters
--transform --resolver --testEnvironment --preset --outputFile --coverageDirectory --cacheDirectory --filter --env
--testSequencer --projects --snapshotSerializers --roots --dependencyExtractor --watchPlugins
"""
_NODE: Final = (
    "--script-shell --prefix --userconfig --globalconfig -C -c -r --node-options --git --viewer --cwd --use-yarnrc"
)
PROGRAMS: Final[dict[str, Program]] = {
    **dict.fromkeys(_READERS.split(), Program("*")),
    **dict.fromkeys(_SIMPLE.split(), Program()),
    "git": Program(
        "status, diff, log, show, blame, shortlog, describe, rev-parse, ls-files, add, commit, fetch",
        """
        -c -C -O -x --exec-path --config-env --git-dir --work-tree --exec --upload-pack --receive-pack --ext-diff
        --open-files-in-pager --textconv --output --template --config --extcmd --tool --tree-filter --msg-filter --setup
        --index-filter --env-filter --commit-filter --parent-filter --tag-name-filter --to-cmd --cc-cmd --sendmail-cmd
        --smtp-server --attr-source --prefix --httpd --strategy clone submodule run foreach config filter-branch
        difftool mergetool daemon credential hook merge-index merge-one-file remote-ext remote-fd instaweb send-email
        upload-pack receive-pack fast-import cvsimport p4 svn web--browse credential-store archive/-o format-patch/-o
        merge/-s rebase/-s pull/-s cherry-pick/-s revert/-s checkout-index bugreport/-o diagnose/-o
        """,
        "cached @",
        """
        am annotate apply archive bisect branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone
        commit-tree config count-objects diff-files diff-index diff-tree for-each-ref format-patch fsck gc grep
        hash-object help init ls-remote ls-tree merge merge-base mv name-rev notes pull push range-diff read-tree rebase
        reflog remote repack replace reset restore rev-list revert rm show-branch show-ref sparse-checkout stash switch
        symbolic-ref tag update-index update-ref verify-commit version whatchanged worktree write-tree
        """,
    ),
    "find": Program("", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"),
    **dict.fromkeys(("fd", "fdfind"), Program("", "-x -X --exec --exec-batch")),
    "tar": Program(
        "",
        """
        -I -F --to-command --checkpoint-action --use-compress-program --rsh-command --info-script --new-volume-script
        --rmt-command -P --absolute-names
        """,
    ),
    "rg": Program(
        "*", "--pre --hostname-bin -z --search-zip", "files fileswithmatches fileswithoutmatch pathseparator"
    ),
    "ag": Program("", "--pager"),
    "sort": Program("", "-o --output --compress-program -T --temporary-directory"),
    "rsync": Program("", "-e --rsh --rsync-path --log-file --daemon -M"),
    "scp": Program("", "-o -S -F -D"),
    "sftp": Program("", "-o -S -F -D -b"),
    "zip": Program("", "-TT --unzip-command -T"),
    "curl": Program("", "-o -O --output --remote-name -K --config --output-dir -J -c -D"),
    "wget": Program("", "-e --execute -O --output-document --use-askpass --config -P -o -a"),
    "man": Program("", "-P --pager -H --html -C"),
    "less": Program("", "-o -O --log-file -k --lesskey-file --lesskey-src"),
    "date": Program("", "-s --set"),
    "gcc": Program("", "-wrapper -o -B -specs -fplugin"),
    "split": Program("", "--filter"),
    "file": Program("*", "-C --compile", "files-from"),
    "tree": Program("*", "-o -R", "dirsfirst filesfirst filelimit noreport"),
    "diff": Program("*", "--to-file --from-file --output", "stripTrailingCr excludeFrom"),
    "pytest": Program(
        "*",
        """
        -p -c -o -W --override-ini --rootdir --confcutdir --basetemp --pastebin --debug --config-file --junit-xml
        --junitxml --log-file --report-log --pdbcls --tx --px --html --snapshot-default-extension --pyargs
        --pythonwarnings
        """,
        "log-level log-cli-level show-capture",
    ),
    "pylint": Program(
        "*", "--init-hook --load-plugins --rcfile --output -f --import-graph --ext-import-graph --int-import-graph"
    ),
    "mypy": Program("*", "--config-file --install-types --python-executable --cache-dir --junit-xml", "python-version"),
    "flake8": Program("*", "--config --append-config --output-file"),
    "ruff": Program("*", "--config --output-file -o", "output-format"),
    **dict.fromkeys(
        ("pyright", "basedpyright"),
        Program(
            "*",
            "-p --project -v --venvpath --createstub --pythonpath --typeshedpath -t --gitlabcodequality",
            "outputjson pythonversion",
        ),
    ),
    "eslint": Program(
        "*",
        """
        -c --config --rulesdir --plugin --parser --resolve-plugins-relative-to -f --format -o --output-file --init
        --cache-location --cache-file
        """,
    ),
    "tsc": Program(
        "*",
        """
        -p --project -b --build --init --outDir --outFile --out --declarationDir --tsBuildInfoFile --generateTrace
        --generateCpuProfile
        """,
    ),
    "jest": Program("*", _JEST, "coverage watch"),
    "vitest": Program(
        "*",
        f"{_JEST} -r --root --dir --workspace --diff --sequence --typecheck --open --ui --alias",
        "run coverage watch",
    ),
    "cargo": Program("build, check, test, clippy, fmt, doc, tree", "--config -Z --manifest-path --target-dir --open"),
    "go": Program(
        "build, test, vet, fmt, doc, list",
        """
        -exec -toolexec -C -o -overlay -vettool -modfile -ldflags -gcflags -asmflags -gccgoflags -compiler -pkgdir
        -outputdir -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -http
        """,
    ),
    "npm": Program("test, ls, outdated, run +", _NODE, "@"),
    **dict.fromkeys(("pnpm", "yarn"), Program("run +", _NODE, "@")),
    "pip": Program("list, show, check, freeze", "--python --log --log-file --cache-dir -i -f --cert --client-cert"),
    "uv": Program("tree, lock", "--directory --project --config-file --python -p --keyring-provider -f -i"),
    "docker": Program("ps, images, logs", "-v --volume --mount --privileged -H --host -c --context"),
    "kubectl": Program(
        "get, describe, logs",
        """
        --kubeconfig --cache-dir --profile-output --server -s --token --cluster --context --user --as --client-key
        --client-certificate --certificate-authority --raw -f --filename -k --kustomize
        """,
        "output",
    ),
    "gh": Program(
        # what only reads: `gh pr *` would merge, `gh run *` delete
        "issue list, issue view, issue status, pr list, pr view, pr status, pr diff, pr checks, run list, run view",
        "--web -w",
        "template",
    ),
    **dict.fromkeys(
        ("python", "python3"),
        Program("-m pytest, -m mypy, -m ruff, -m flake8, -m pylint, -m basedpyright, -m compileall"),
    ),
}
"""The programs whose options are known. Of another program no prefix is offered, and what it is given may be run."""

_LOADS: Final = re.compile(
    "exec|command|cmd|script|shell|program|plugin|hook|load|require|module|setup|teardown|config|rcfile|output|outfile|outdir"
    "|file|dir|path|prefix|root|python|interpreter|server|registry|index|url|proxy|pool|environment|runner|resolver|report"
    "|transform|template|pager|editor|driver|cache|store|dump|host|token|provider|link|browser|processor|profile|trace"
)
"""In the name of an option: a program of the table may run, write or load code by it, besides those listed."""


def program_name(word: str) -> str:
    """The name that the tables have: without folders, `.exe` and the version at its end (`python3.11`)."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name if name in RUNNERS or name in INTERPRETERS or name in PROGRAMS else name.rstrip("0123456789.") or name


def is_running_option(command: Sequence[str], word: str) -> bool:
    """Whether the command runs others by this word of it: an option in any spelling, its abbreviation, one of a cluster
    of letters, or the name of a file with further arguments (`@options.txt`)."""
    name, option = program_name(command[0]), word.partition("=")[0]
    program = PROGRAMS.get(name, Program())
    options, letters = program.options.split(), _letters(option)
    subcommand = " ".join(_plain(command)[:1])
    if option in options or f"{subcommand}/{option}" in options or (name == "git" and "::" in word):  # ext::COMMAND
        return True
    if word.startswith("@"):
        return "@" not in program.safe
    if not option.startswith("-") or not letters or letters in map(_letters, program.safe.split()):
        return False
    known = {_letters(each) for each in options if len(each) > 2 and each.startswith("-")}
    if len(letters) > 1 and known & {letters, *map(_letters, option.split("."))}:
        return True
    if option.startswith("--"):
        is_negated = re.match("--(no|ignore|skip|without)-", option) is not None
        loads = options and program.offers and not is_negated and _LOADS.search(letters)
        return bool(loads) or any(each.startswith(letters) for each in known)
    clusters = {each[1] for each in options if len(each) == 2 and each.startswith("-")}
    return bool(clusters & set(word[1:])) and name not in {
        "find",
        "go",
        "gcc",
    }  # which have long options with one hyphen


def runs_nothing(command: Sequence[str]) -> bool:
    """Whether the table says that the command runs nothing that it is given. A path may be any program, and a program
    that runs scripts of the project gives them its words."""
    name, words = program_name(command[0]), _plain(command)
    program = PROGRAMS.get(name)
    if program is None or name in INTERPRETERS or "/" in command[0] or "+" in program.offers:
        return False
    is_known = not any(program.prefixes) or words[:1] in [[each] for each in program.subcommands.split()]
    is_known = is_known or any(words[: len(prefix)] == prefix for prefix in program.prefixes)
    return is_known and not any(is_running_option(command, word) for word in command[1:])


def is_git_command(command: Sequence[str]) -> bool:
    """Whether git's subcommand is one of the table. Another may be an alias, or do a part of what a command does."""
    git = PROGRAMS["git"]
    known = {*git.subcommands.split(), *git.options.split(), *(prefix[0] for prefix in git.prefixes)}
    return set(_plain(command)[:1]) <= known


def _plain(command: Sequence[str]) -> list[str]:
    return [word for word in command[1:] if not word.startswith("-")]


def _letters(option: str) -> str:
    """The option's name in any spelling: `--globalSetup`, `--global-setup`."""
    return option.replace("-", "").replace("_", "").casefold()
