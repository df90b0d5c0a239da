CREATE TABLE examples (prompt_id VARCHAR, prompt VARCHAR, example_tags VARCHAR[]);
CREATE TABLE criteria (prompt_id VARCHAR, position SMALLINT, text VARCHAR, points DOUBLE, tags VARCHAR[]);
