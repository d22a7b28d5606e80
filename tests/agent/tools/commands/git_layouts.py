# ruff: noqa: E501  # shell lines
"""Layouts of repositories, and places in them from which git would run a program."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SUFFIX = "made-by-a-command"


@dataclass(frozen=True)
class Layout:
    """A repository in a project. `git` is its git folder, `common` the one with its settings, `tree` its files."""

    project: Path
    home: Path
    tree: Path
    git: Path
    common: Path


def git(*arguments: object, at: Path) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *own, *map(str, arguments)], cwd=at, check=True, capture_output=True)


def _commit(at: Path) -> None:
    (at / "a").write_text("a\n")
    git("add", "a", at=at)
    git("commit", "-qm", "a", at=at)


def _plain(project: Path) -> tuple[Path, Path]:
    git("init", "-q", project, at=project)
    _commit(project)
    return project, project / ".git"


def _nested(project: Path) -> tuple[Path, Path]:
    (project / "a/b").mkdir(parents=True)
    git("init", "-q", "a/b", at=project)
    _commit(project / "a/b")
    return project / "a/b", project / "a/b/.git"


def _separate(project: Path) -> tuple[Path, Path]:
    git("init", "-q", "--separate-git-dir", project / "data", project, at=project)
    _commit(project)
    return project, project / "data"


def _separate_relative(project: Path) -> tuple[Path, Path]:
    _separate(project)
    (project / ".git").write_text("gitdir: ./data\n")
    return project, project / "data"


def _linked(project: Path) -> tuple[Path, Path]:
    _plain(project)
    (project / ".git").rename(project / "data")
    (project / ".git").symlink_to("data")
    return project, project / "data"


def _worktree(project: Path) -> tuple[Path, Path]:
    _plain(project)
    git("worktree", "add", "-q", "tree", at=project)
    return project / "tree", project / ".git/worktrees/tree"


def _bare_with_worktree(project: Path) -> tuple[Path, Path]:
    (project / "made").mkdir()
    _plain(project / "made")
    git("clone", "-q", "--bare", "made", ".bare", at=project)
    shutil.rmtree(project / "made")
    git("--git-dir=.bare", "worktree", "add", "-q", "main", at=project)
    return project / "main", project / ".bare/worktrees/main"


def _bare_behind_a_file(project: Path) -> tuple[Path, Path]:
    tree, own = _bare_with_worktree(project)
    (project / ".git").write_text("gitdir: ./.bare\n")
    return tree, own


def _bare(project: Path) -> tuple[Path, Path]:
    git("init", "-q", "--bare", "store", at=project)
    return project / "store", project / "store"


def _submodule(project: Path) -> tuple[Path, Path]:
    _plain(project)
    git("clone", "-q", "--bare", project, project.parent / "origin", at=project)
    git("submodule", "add", "-q", project.parent / "origin", "deep/sub", at=project)
    git("commit", "-qm", "sub", at=project)
    return project / "deep/sub", project / ".git/modules/deep/sub"


def _outside(project: Path) -> tuple[Path, Path]:
    (project.parent / "main").mkdir()
    _plain(project.parent / "main")
    git("worktree", "add", "-q", project / "tree", at=project.parent / "main")
    return project / "tree", project.parent / "main/.git/worktrees/tree"


def _in_a_build_folder(project: Path) -> tuple[Path, Path]:
    (project / "target").mkdir()
    return _plain(project / "target")


SHAPES: dict[str, Callable[[Path], tuple[Path, Path]]] = {
    "plain": _plain,
    "nested": _nested,
    "separate": _separate,
    "separate, relative": _separate_relative,
    "linked": _linked,
    "worktree": _worktree,
    "bare with a worktree": _bare_with_worktree,
    "bare behind a file": _bare_behind_a_file,
    "bare": _bare,
    "submodule": _submodule,
    "outside": _outside,
    "in a build folder": _in_a_build_folder,
}


def _set(layout: Layout, key: str, value: str) -> None:
    git("config", "--file", layout.common / "config", key, value, at=layout.project)


def _set_global(layout: Layout, key: str, value: str) -> None:
    git("config", "--file", layout.home / ".gitconfig", key, value, at=layout.project)


def _missing(layout: Layout) -> None:
    for name in ("hooks", "info", "description", "branches"):
        path = layout.common / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _worktree_settings(layout: Layout) -> None:
    _set(layout, "extensions.worktreeConfig", "true")


def _included(layout: Layout) -> None:
    (layout.tree / "shared.config").write_text("[alias]\n\tst = status\n")
    _set(layout, "include.path", os.path.relpath(layout.tree / "shared.config", layout.common))


def _included_missing(layout: Layout) -> None:
    _set(layout, "includeIf.onbranch:**.path", str(layout.tree / "missing.config"))
    _set_global(layout, "include.path", str(layout.project / "personal.config"))


def _hooks_of_the_user(layout: Layout) -> None:
    _set_global(layout, "core.hooksPath", ".my-hooks")


def _hooks_of_the_repository(layout: Layout) -> None:
    (layout.tree / "ci").mkdir()
    _set(layout, "core.hooksPath", str(layout.tree / "ci"))


def _programs(layout: Layout) -> None:
    (layout.tree / "monitor.sh").write_text("#!/bin/sh\nexit 1\n")
    (layout.tree / "monitor.sh").chmod(0o755)
    (layout.tree / "clean.sh").write_text("cat\n")
    _set(layout, "core.fsmonitor", "./monitor.sh")
    _set(layout, "filter.f.clean", f"sh {layout.tree / 'clean.sh'}")
    _set(layout, "alias.x", "!sh missing.sh")


VARIANTS: dict[str, Callable[[Layout], None]] = {
    "as made": lambda _: None,
    "missing files": _missing,
    "settings of worktrees": _worktree_settings,
    "an included file": _included,
    "missing included files": _included_missing,
    "the user's hooks": _hooks_of_the_user,
    "own hooks": _hooks_of_the_repository,
    "programs in the tree": _programs,
}


def make(shape: str, variant: str, at: Path) -> Layout:
    """The layout, made by git in new folders."""
    project, home = at / "project", at / "home"
    project.mkdir(parents=True)
    home.mkdir()
    (home / ".gitconfig").write_text(
        '[user]\n\tname = a\n\temail = a@example.org\n[protocol "file"]\n\tallow = always\n'
    )
    tree, own = SHAPES[shape](project)
    redirection = own / "commondir"
    common = Path(os.path.realpath(own / redirection.read_text().strip())) if redirection.exists() else own
    layout = Layout(project, home, tree, own, common)
    VARIANTS[variant](layout)
    return layout


HOOK = "{ mkdir -p %s; printf '#!/bin/sh\\n%%s\\n' \"$P\" > %s/%s; chmod +x %s/%s; }"


def _hook(folder: str, name: str = "post-index-change") -> str:
    return HOOK % (folder, folder, name, folder, name)


SET = r"printf '\n[core]\n\tbare = false\n\tfsmonitor = %s; :\n[alias]\n\tx = !%s\n' "
SETTINGS = SET + r'"$P" "$P"'
ONLY_SETTING = r"""printf '\n[core]\n\tfsmonitor = %s; :\n' "$P" """
EVIL = 'git init -q evil-$N && git -C evil-$N config core.fsmonitor "$P; :"'

PLACES = {
    "a hook": _hook("$G/hooks"),
    "a shared hook": _hook("$C/hooks"),
    "a hook of commits": _hook("$C/hooks", "pre-commit"),
    "a hook of references": _hook("$C/hooks", "reference-transaction"),
    "settings": f"{ONLY_SETTING} >> $C/config",
    "settings by git": "git -C $T config core.fsmonitor \"$P; :\"",
    "settings renamed over": f"cp $C/config new-$N; {ONLY_SETTING} >> new-$N; mv -f new-$N $C/config",
    "settings of a worktree": f"{ONLY_SETTING} >> $G/config.worktree",
    "settings of the main worktree": f"{ONLY_SETTING} >> $C/config.worktree",
    "settings of a worktree by git": "git -C $T config --worktree core.fsmonitor \"$P; :\"",
    "settings elsewhere": f"{EVIL}; echo $PWD/evil-$N/.git > $G/commondir",
    "a copy of the git folder": f"cp -r $G copy-$N; mv $G old-$N; mv copy-$N $G; {ONLY_SETTING} >> $G/config",
    "a copy of the shared folder": f"cp -r $C copy-$N; mv $C old-$N; mv copy-$N $C; {ONLY_SETTING} >> $C/config",
    "a copy of the tree": f"cp -r $T copy-$N; mv $T old-$N; mv copy-$N $T; {ONLY_SETTING} >> $T/.git/config",
    "a file that names another": f"{EVIL}; mv $T/.git old-$N; echo gitdir: $PWD/evil-$N/.git > $T/.git",
    "a file that is written": f"{EVIL}; echo gitdir: $PWD/evil-$N/.git > $T/.git",
    "a link to another": f"{EVIL}; mv $T/.git old-$N; ln -s $PWD/evil-$N/.git $T/.git",
    "an included file": f"{ONLY_SETTING} >> $T/shared.config",
    "an included file that was missing": f"{ONLY_SETTING} >> $T/missing.config",
    "an included file of the user": f"{ONLY_SETTING} >> personal.config",
    "the folder of an included file": f"cp -r $T copy-$N; mv $T old-$N; mv copy-$N $T; {ONLY_SETTING} >> $T/shared.config",
    "a folder of hooks": _hook("$T/ci", "post-index-change"),
    "the user's folder of hooks": _hook("$T/.my-hooks"),
    "the user's folder of hooks, for commits": _hook("$T/.my-hooks", "pre-commit"),
    "a program": 'printf "#!/bin/sh\\n%s\\n" "$P" > $T/monitor.sh; chmod +x $T/monitor.sh',
    "a program that is replaced": 'rm -f $T/monitor.sh; printf "#!/bin/sh\\n%s\\n" "$P" > $T/monitor.sh; chmod +x $T/monitor.sh',
    "a program of a filter": 'echo "$P; cat" > $T/clean.sh; echo "* filter=f" > $T/.gitattributes',
    "a program that was missing": 'echo "$P" > $T/missing.sh',
    "a new repository": f"mkdir -p n-$N/m; cd n-$N/m; {EVIL}",
    "a new repository, deep": f"mkdir -p d-$N/2/3/4/5/6/7/8; cd d-$N/2/3/4/5/6/7/8; {EVIL}",
    "a new repository among builds": f"mkdir -p node_modules target; cd target; {EVIL}",
    "a new bare repository": f"git init -q --bare b-$N; git -C b-$N config core.worktree ..; {SETTINGS} >> b-$N/config",
    "a new bare one with its settings elsewhere": f"{EVIL}; mkdir s-$N; git -C evil-$N config core.worktree $PWD/s-$N; "
    "echo ref: refs/heads/x > s-$N/HEAD; echo $PWD/evil-$N/.git > s-$N/commondir",
    "a template": f"mkdir -p t-$N/hooks; {_hook('t-$N/hooks')}; git init -q --template=$PWD/t-$N $T",
    "steps of a rebase": "for g in $G $T/.git; do mkdir -p $g/rebase-merge; printf 'exec %s\\n' \"$P\" > $g/rebase-merge/git-rebase-todo; "
    "git -C $T rev-parse HEAD | tee $g/rebase-merge/onto $g/rebase-merge/orig-head > /dev/null; "
    "echo refs/heads/x > $g/rebase-merge/head-name; touch $g/rebase-merge/interactive; "
    "touch $g/rebase-merge/done; echo 1 > $g/rebase-merge/end; echo 0 > $g/rebase-merge/msgnum; done",
    "a submodule's settings": f"for m in $(find . -path '*modules*' -name config); do {ONLY_SETTING} >> $m; done",
    "settings of all worktrees": f"for w in $C/worktrees/*; do {ONLY_SETTING} >> $w/config.worktree; done",
    "a new worktree": f"git -C $T worktree add -q $PWD/w-$N -b w-$N; for w in $C/worktrees/*; do {ONLY_SETTING} >> $w/config.worktree; done",
}  # fmt: skip
"""Shell lines, by what they write. `$G`, `$C`, `$T` are the layout's folders, `$N` a number, `$P` a program."""


def attack(layout: Layout, number: int, line: str, marks: Path) -> str:
    """The line of a place, in its own shell."""
    names = {"G": layout.git, "C": layout.common, "T": layout.tree, "N": number, "P": f"touch {marks}/{number}"}
    values = " ".join(f"{name}='{value}'" for name, value in names.items())
    return f"( {values}; cd {layout.project}; {line} ) 2> /dev/null"


VICTIMS = (
    "status",
    "add -A .",
    "commit -qm b --allow-empty",
    "checkout -q -b victim",
    "rebase --continue",
    "x",
)


def look(layout: Layout) -> None:
    """The person works with git in every folder that a repository could be in, outside the sandbox."""
    folders = {
        Path(at) for at, below, names in os.walk(layout.project) if ".git" in (*below, *names) or "HEAD" in names
    }
    folders |= {layout.project, layout.tree}
    environment = {"PATH": os.environ["PATH"], "HOME": str(layout.home), "GIT_TERMINAL_PROMPT": "0", "EDITOR": "true"}
    environment |= {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"}
    for folder in sorted(folders):
        if (
            any(SUFFIX in part or part in {"objects", "refs", "logs", ".git"} for part in folder.parts)
            or not folder.is_dir()
        ):
            continue  # nobody works in a copy that says where it is from
        for victim in VICTIMS:
            subprocess.run(
                ["git", *victim.split()], cwd=folder, env=environment, capture_output=True, check=False, timeout=20
            )
