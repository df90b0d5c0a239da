-- Replies and conversations by theme (NULL where it is not known); of several themes the first by name counts, so that
-- the rows sum to the run.
WITH theme_of AS (
    SELECT example, min(tag) AS theme, arg_min(source, tag) AS source
    FROM example_tags WHERE tag LIKE 'theme:%' GROUP BY example
)
SELECT
    theme,
    count(DISTINCT prompt_id) AS conversations,
    count(*) AS examples,
    count(*) FILTER (source = 'inferred') AS inferred
FROM examples LEFT JOIN theme_of USING (example)
GROUP BY theme
