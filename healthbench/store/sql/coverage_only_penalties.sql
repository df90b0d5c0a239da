-- Number of examples in which at least one axis has only penalties.
SELECT count(DISTINCT example) FROM (
    SELECT items.example
    FROM items JOIN criteria USING (criterion)
    WHERE criteria.axis IS NOT NULL
    GROUP BY items.example, criteria.axis
    HAVING max(items.points) < 0
)
