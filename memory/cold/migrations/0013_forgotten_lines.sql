-- Lines of notes that were forgotten on any device. The version stays in the graph of its note, without their words, so
-- that all devices merge by the same versions.

ALTER TABLE sync_notes ADD COLUMN forgotten BLOB NOT NULL DEFAULT x'';  -- which lines: memory.cold.note_lines
ALTER TABLE sync_notes ADD COLUMN heard BLOB NOT NULL DEFAULT x'';      -- the forgettings that its writer knew
ALTER TABLE sync_merged ADD COLUMN heard BLOB NOT NULL DEFAULT x'';     -- and those that the file is without

CREATE TABLE sync_forgotten_lines (        -- their words, as hashes under this workspace's secret
    note       TEXT NOT NULL,              -- the note's path
    line       TEXT NOT NULL,
    forgetting INTEGER NOT NULL,           -- a number that names it on all devices
    PRIMARY KEY (note, line, forgetting)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER sync_note_blanked AFTER UPDATE OF body ON sync_notes
BEGIN
    UPDATE sync_written SET stale = 1 WHERE number = old.segment AND old.own = 1;
    UPDATE sync_merged SET stale = 1 WHERE path = new.path;
END;
