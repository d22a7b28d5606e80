-- Which analyser found an entry's terms, so that those of an older one are found anew while nobody waits.

ALTER TABLE terms ADD COLUMN analyser TEXT NOT NULL DEFAULT '1';  -- memory.search.words.analyse.version
CREATE INDEX terms_by_analyser ON terms (analyser);
