"""Errors of backups.

Misuse
├── NotABackup          the place holds no backup, or other files
└── UnusableFolder      the folder of a backup or a restore cannot be used
TemporaryFailure
├── BackupUnreachable   the place does not answer, or the disk is not mounted
├── BackupInUse         another backup of this workspace or to this place is running
└── WorkspaceBusy       packs came and went during every attempt
BackupDiskFull          no space is left at the place, in the workspace, or at the target of a restore
BackupDamaged           a file of the backup is not what was written
NewerBackup             a newer program wrote it
"""

from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from memory.errors import Damaged


class NotABackup(Misuse):
    """There is no backup at the place."""

    code = "not_a_backup"


class UnusableFolder(Misuse):
    """The folder lies inside a workspace or the backup, is not empty, or its parent is missing."""

    code = "unusable_folder"


class BackupUnreachable(TemporaryFailure):
    """The place cannot be reached now. Nothing there is known to be damaged."""

    code = "unreachable"


class BackupInUse(TemporaryFailure):
    """Another process makes a backup."""

    code = "backup_in_use"


class WorkspaceBusy(TemporaryFailure):
    """Packs were rewritten during each attempt, so that none was consistent."""

    code = "workspace_busy"


class BackupDiskFull(PalimpsestError):
    """No space is left at the place, in the workspace, or at the target of a restore: the message says which."""

    code = "disk_full"


class BackupDamaged(Damaged):
    """A file of the backup is missing, or is not what was written."""


class NewerBackup(PalimpsestError):
    """A newer program wrote this. It is not damaged, and is left as it is."""

    code = "newer_backup"
