-- What a run's parts share while it is being imported. Criteria with the same tags share one row of tag_sets.
CREATE TABLE tag_sets (
    tag_set INTEGER,
    tags VARCHAR[],
    axis VARCHAR,               -- first tag of the kind, NULL where there is none
    level VARCHAR,
    cluster VARCHAR
);
CREATE TABLE criteria (
    criterion INTEGER,
    text VARCHAR,
    points DOUBLE,
    tag_set INTEGER
)
