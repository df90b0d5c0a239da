-- The texts and verdicts of a run while it is being imported, a part of it at a time. With the points of
-- examples_part.sql and items_part.sql these are the documented columns of its Parquet files.
CREATE TABLE criteria (
    criterion INTEGER,
    text VARCHAR,
    points DOUBLE,
    tags VARCHAR[],
    axis VARCHAR,               -- first tag of the kind, NULL where there is none
    level VARCHAR,
    cluster VARCHAR
)
