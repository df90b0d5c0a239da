-- By axis, over the examples that have a score: what missed points and incurred penalties take from the mean, each
-- point as its share of its example's positive points, and how many criteria that is; {met} is the verdict that counts.
WITH scored AS (
    SELECT example, sum(points) FILTER (points > 0) AS possible
    FROM items
    GROUP BY example
    HAVING max(points) > 0 AND bool_and({met} IS NOT NULL)
),
number AS (SELECT count(*) AS n FROM scored)
SELECT
    criteria.axis,
    coalesce(sum(items.points / scored.possible) FILTER (items.points > 0 AND NOT {met}), 0) / any_value(number.n)
        AS missed,
    coalesce(-sum(items.points / scored.possible) FILTER (items.points < 0 AND {met}), 0) / any_value(number.n)
        AS incurred,
    count(*) FILTER (items.points > 0) AS n_positive,
    count(*) FILTER (items.points > 0 AND NOT {met}) AS n_missed,
    count(*) FILTER (items.points < 0 AND {met}) AS n_incurred
FROM items JOIN scored USING (example) JOIN criteria USING (criterion) CROSS JOIN number
GROUP BY criteria.axis
