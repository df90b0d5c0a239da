-- By axis, what missed points and incurred penalties take from the mean of the example scores: each point is its share
-- of its example's positive points, over the examples that have a score; {met} is the verdict that counts.
WITH scored AS (
    SELECT items.example, sum(items.points) FILTER (items.points > 0) AS possible
    FROM items
    GROUP BY items.example
    HAVING count(*) FILTER (items.points > 0) > 0 AND count(*) FILTER ({met} IS NULL) = 0
),
number AS (SELECT count(*) AS n FROM scored)
SELECT
    criteria.axis,
    coalesce(sum(items.points / scored.possible) FILTER (items.points > 0 AND NOT {met}), 0) / any_value(number.n)
        AS missed,
    coalesce(-sum(items.points / scored.possible) FILTER (items.points < 0 AND {met}), 0) / any_value(number.n)
        AS incurred
FROM items JOIN scored USING (example) JOIN criteria USING (criterion) CROSS JOIN number
GROUP BY criteria.axis
