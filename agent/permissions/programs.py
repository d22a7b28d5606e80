"""Programs that run other commands, and options by which programs do: what a prefix of words cannot judge."""

from typing import Final

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
        *("lldb", "psql"),
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

RUNNING_OPTIONS: Final[dict[str, frozenset[str]]] = {
    "git": frozenset(
        {
            *("-c", "-C", "-O", "-x", "--exec-path", "--config-env", "--git-dir", "--work-tree", "--exec"),
            *("--upload-pack", "--receive-pack", "--open-files-in-pager", "--ext-diff", "--textconv", "--output"),
            *("--template", "--config", "--extcmd", "--tool", "--tree-filter", "--msg-filter", "--index-filter"),
            *("--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--setup", "--to-cmd"),
            *("--cc-cmd", "--sendmail-cmd", "--smtp-server", "--attr-source", "clone", "submodule"),
            *("run", "foreach", "config", "filter-branch", "difftool", "mergetool", "daemon", "credential", "hook"),
        }
    ),
    "find": frozenset(
        {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"}
    ),
    "fd": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
    "fdfind": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
    "tar": frozenset(
        {
            *("-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command"),
            *("--info-script", "--new-volume-script", "--rmt-command", "-P", "--absolute-names"),
        }
    ),
    "rg": frozenset({"--pre", "--hostname-bin", "-z", "--search-zip"}),
    "ag": frozenset({"--pager"}),
    "sort": frozenset({"-o", "--output", "--compress-program", "-T", "--temporary-directory"}),
    "rsync": frozenset({"-e", "--rsh", "--rsync-path", "--log-file", "--daemon", "-M"}),
    "scp": frozenset({"-o", "-S", "-F", "-D"}),
    "sftp": frozenset({"-o", "-S", "-F", "-D", "-b"}),
    "zip": frozenset({"-TT", "--unzip-command", "-T"}),
    "curl": frozenset({"-o", "-O", "--output", "--remote-name", "-K", "--config", "--output-dir", "-J", "-c", "-D"}),
    "wget": frozenset({"-e", "--execute", "-O", "--output-document", "--use-askpass", "--config", "-P", "-o", "-a"}),
    "man": frozenset({"-P", "--pager", "-H", "--html", "-C"}),
    "less": frozenset({"-o", "-O", "--log-file", "-k", "--lesskey-file", "--lesskey-src"}),
    "date": frozenset({"-s", "--set"}),
    "pytest": frozenset(
        {
            *("-p", "-c", "-o", "--override-ini", "--rootdir", "--confcutdir", "--basetemp", "--pastebin", "--debug"),
            *("--config-file", "--junit-xml", "--junitxml", "--log-file", "--report-log"),
        }
    ),
    "pylint": frozenset({"--init-hook", "--load-plugins", "--rcfile", "--output"}),
    "mypy": frozenset(
        {
            *("--config-file", "--install-types", "--python-executable", "--cache-dir", "--any-exprs-report"),
            *("--cobertura-xml-report", "--html-report", "--linecount-report", "--linecoverage-report"),
            *("--lineprecision-report", "--txt-report", "--xml-report", "--xslt-html-report", "--xslt-txt-report"),
            "--junit-xml",
        }
    ),
    "flake": frozenset({"--config", "--append-config", "--output-file"}),  # flake8
    "eslint": frozenset(
        {
            *("-c", "--config", "--rulesdir", "--plugin", "--parser", "--resolve-plugins-relative-to"),
            *("-f", "--format"),
            *("-o", "--output-file", "--cache-location", "--cache-file"),
        }
    ),
    "jest": frozenset(
        {
            *("-c", "--config", "--rootDir", "--globalSetup", "--globalTeardown"),
            *("--setupFiles", "--setupFilesAfterEnv"),
            *("--testRunner", "--runner", "--reporters", "--transform", "--resolver", "--testEnvironment", "--preset"),
            *("--outputFile", "--coverageDirectory", "--cacheDirectory", "--filter", "--testSequencer"),
        }
    ),
    "vitest": frozenset(
        {"-c", "--config", "-r", "--root", "--globalSetup", "--reporter", "--outputFile", "--environment"}
    ),
    "tsc": frozenset({"--outDir", "--outFile", "--declarationDir", "--tsBuildInfoFile", "--generateTrace"}),
    "pip": frozenset({"--python", "--log", "--log-file", "--cache-dir"}),
    "uv": frozenset({"--directory", "--project", "--config-file", "--python", "-p", "--keyring-provider"}),
    "kubectl": frozenset({"--kubeconfig", "--cache-dir", "--profile-output"}),
    "gh": frozenset({"--web", "-w"}),
    "file": frozenset({"-C", "--compile"}),
    "cargo": frozenset({"--config", "-Z", "--manifest-path", "--target-dir"}),
    "npm": frozenset({"--script-shell", "--prefix", "--userconfig", "--globalconfig", "-C", "--node-options"}),
    "go": frozenset(
        {
            *("-exec", "-toolexec", "-C", "-o", "-overlay", "-vettool", "-modfile", "-ldflags"),
            *("-gcflags", "-asmflags"),
            *("-gccgoflags", "-compiler", "-pkgdir", "-outputdir", "-coverprofile", "-cpuprofile", "-memprofile"),
            *("-blockprofile", "-mutexprofile", "-trace"),
        }
    ),
    "gcc": frozenset({"-wrapper", "-o", "-B", "-specs", "-fplugin"}),
    "split": frozenset({"--filter"}),
    "tree": frozenset({"-o", "-R"}),
    "diff": frozenset({"--to-file", "--from-file", "--output"}),
    "docker": frozenset({"-v", "--volume", "--mount", "--privileged", "-H", "--host", "-c", "--context"}),
    "ruff": frozenset({"--config", "--output-file", "-o"}),
}
"""Options (and subcommands) by which a program runs others, reads its commands from elsewhere, or writes files.

A prefix rule does not hold for a command with one of them unless the rule names it.
"""


def program_name(word: str) -> str:
    """The name that the tables have: without folders, `.exe` and the version at its end (`python3.11`)."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name if name in RUNNERS or name in INTERPRETERS else name.rstrip("0123456789.") or name


def is_running_option(program: str, word: str) -> bool:
    """Whether the program runs others by this word: an option, its abbreviation, or one of a cluster of letters."""
    options = RUNNING_OPTIONS.get(program_name(program), frozenset[str]())
    option = word.partition("=")[0]
    if program_name(program) == "go" and option.startswith("--"):  # it takes its options with either
        option = option[1:]
    if option in options or (program_name(program) == "git" and "::" in word):  # git clone ext::COMMAND
        return True
    if option.startswith("--"):
        return len(option) > 2 and any(known.startswith(option) for known in options)
    if not option.startswith("-"):
        return False
    letters = {known[1] for known in options if len(known) == 2 and known.startswith("-")}
    return bool(letters & set(word[1:])) and not _is_long(program, word)


def _is_long(program: str, word: str) -> bool:
    """Whether the program has long options behind one hyphen: `find -name` is no cluster of letters."""
    return program_name(program) in {"find", "go", "gcc"}
