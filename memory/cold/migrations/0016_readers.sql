-- Which version of the reader read a segment of another device: an earlier one left out what it did not know, as files of
-- knowledge. Such a segment is read once more: what is here already is not taken twice.

ALTER TABLE sync_read ADD COLUMN reader INTEGER NOT NULL DEFAULT 0;  -- memory.sync.other_logs
