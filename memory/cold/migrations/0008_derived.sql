-- Entries that only repeat others: results of memory tools, tool calls, summaries, answers of `offline`, and those whose
-- meta says what they are derived from. The search index leaves them out, and learns of those that it has by `changes`.

ALTER TABLE terms ADD COLUMN derived INTEGER NOT NULL DEFAULT 0;
UPDATE terms SET derived = 1 WHERE entry IN (
    SELECT seq FROM entries
    WHERE kind IN ('tool_call', 'summary')
    OR (kind = 'tool_result' AND speaker IN ('search_memory', 'recall', 'remember'))
    OR (kind = 'message' AND role = 'assistant' AND speaker = 'offline')
    OR instr(coalesce(meta, x''), CAST('"derived_from"' AS BLOB)) > 0
);
CREATE INDEX terms_derived ON terms (entry) WHERE derived = 1;
INSERT INTO changes (op, entry) SELECT 'change', entry FROM terms WHERE derived = 1 ORDER BY entry;
