-- Notes whose names were forgotten on any device: what arrives under such a name is the note with its other name, unless who
-- wrote it had heard of that.

ALTER TABLE sync_notes ADD COLUMN renamed INTEGER NOT NULL DEFAULT 0;  -- the forgetting that gave it its path, or 0

CREATE TABLE sync_renamed_notes (
    note    TEXT NOT NULL,              -- the name before, as a hash under this workspace's secret
    renamed INTEGER NOT NULL,           -- the clock of the forgetting, which names it on all devices
    path    TEXT NOT NULL,              -- the name since
    due     INTEGER NOT NULL DEFAULT 1, -- 1: the file here may have the name of before
    PRIMARY KEY (note, renamed, path)
) STRICT, WITHOUT ROWID;
