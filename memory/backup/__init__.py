"""Backups of a workspace: consistent while it is in use, incremental, restored and read back.

errors      what can fail
place       the folder or remote storage that holds the files of a backup
pieces      contents in pieces, each named by its SHA-256
snapshot    the manifest of one backup: files, modes, pieces
choice      the snapshot that a person named
sources     which files of a workspace are saved, in which order
database    a consistent copy of the database
backup      makes a snapshot
retention   removes snapshots, and pieces that nothing needs
restore     writes a snapshot to an empty folder, and reads it back
verify      reads a whole backup
reminder    when the last backup was made
"""
