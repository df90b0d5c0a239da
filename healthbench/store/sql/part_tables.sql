CREATE TABLE examples_{part} (
    example INTEGER,            -- row in the run, 0-based, file order
    prompt_id VARCHAR,
    repeat INTEGER,             -- 0-based number of this reply among the replies to the same prompt
    completion_id VARCHAR,
    prompt VARCHAR,             -- JSON list of {{role, content}}, the turns before the reply
    n_messages INTEGER,         -- number of those turns
    reply VARCHAR,
    characters INTEGER,         -- length of the reply in Unicode code points
    example_tags VARCHAR[],     -- as the run file carries them, NULL where it carries none
    inferred_tags VARCHAR[],    -- what the consensus cluster tags imply, possibly empty
    stated_score DOUBLE,
    error VARCHAR
);
CREATE TABLE verdicts_{part} (
    example INTEGER,
    position SMALLINT,          -- place of the criterion in the example's rubric, 0-based
    criterion INTEGER,          -- row in criteria
    stored BOOLEAN,             -- the verdict as the file holds it, NULL where it holds none
    failure VARCHAR,            -- why a stored false is no verdict, NULL where it is one
    explanation VARCHAR
)
