-- Criterion assignments by {by} (NULL where there is none); penalties are counted as points taken, not negative.
WITH theme_of AS (
    SELECT example, min(tag) AS theme FROM example_tags WHERE tag LIKE 'theme:%' GROUP BY example
)
SELECT
    {by},
    count(*) AS assignments,
    count(DISTINCT criteria.text) AS unique_criteria,
    coalesce(sum(items.points) FILTER (items.points > 0), 0) AS possible,
    coalesce(-sum(items.points) FILTER (items.points < 0), 0) AS penalty,
    count(*) FILTER (items.points < 0) AS penalties
FROM items JOIN criteria USING (criterion) LEFT JOIN theme_of USING (example)
GROUP BY {by}
