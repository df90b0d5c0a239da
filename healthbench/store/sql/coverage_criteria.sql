-- One page of the criteria in a cell of the theme x axis grid, the most often used first.
WITH theme_of AS (
    SELECT example, min(tag) AS theme FROM example_tags WHERE tag LIKE 'theme:%' GROUP BY example
)
SELECT
    criteria.criterion,
    criteria.points,
    count(*) AS assignments,
    count(*) FILTER (items.met) AS met,
    count(*) FILTER (NOT items.met) AS not_met,
    count(*) FILTER (items.met IS NULL) AS unknown,
    min(items.example) AS first_example,
    criteria.text,
    count(*) OVER () AS total
FROM items JOIN criteria USING (criterion) LEFT JOIN theme_of USING (example)
WHERE theme IS NOT DISTINCT FROM ? AND criteria.axis IS NOT DISTINCT FROM ?
GROUP BY criteria.criterion, criteria.points, criteria.text
ORDER BY assignments DESC, abs(criteria.points) DESC, criteria.criterion
LIMIT ? OFFSET ?
