-- One part of a run while it is being imported. The same columns are the documented layout of its Parquet files.
CREATE TABLE examples (
    example INTEGER,            -- row in the run, 0-based, file order
    prompt_id VARCHAR,
    repeat INTEGER,             -- 0-based number of this reply among the replies to the same prompt
    completion_id VARCHAR,
    prompt VARCHAR,             -- JSON list of {role, content}, the turns before the reply
    n_messages INTEGER,         -- number of those turns
    reply VARCHAR,
    characters INTEGER,         -- length of the reply in Unicode code points
    example_tags VARCHAR[],     -- as the run file carries them, NULL where it carries none
    inferred_tags VARCHAR[],    -- what the consensus cluster tags imply, possibly empty
    stated_score DOUBLE,
    error VARCHAR
);
CREATE TABLE items (
    example INTEGER,
    position SMALLINT,          -- place of the criterion in the example's rubric, 0-based
    criterion INTEGER,          -- row in criteria
    points DOUBLE,
    stored BOOLEAN,             -- the verdict as the file holds it, NULL where it holds none
    failure VARCHAR,            -- why a stored false is no verdict, NULL where it is one
    met BOOLEAN,                -- the verdict that counts, NULL where unknown
    explanation VARCHAR
);
CREATE TABLE criteria (
    criterion INTEGER,
    text VARCHAR,
    points DOUBLE,
    tags VARCHAR[],
    axis VARCHAR,               -- first tag of the kind, NULL where there is none
    level VARCHAR,
    cluster VARCHAR
);
CREATE VIEW items_with_marks AS
SELECT *, stored IS FALSE AND failure IS NOT NULL AS marked FROM items;
CREATE VIEW tagged_items AS
SELECT items_with_marks.*, unnest(list_distinct(criteria.tags)) AS tag
FROM items_with_marks JOIN criteria USING (criterion);
