-- The points of each example ({key} = example) or of each tag of each example ({key} = example, tag).
-- scoring/example.py defines them; a property test holds the two equal.
SELECT
    {key},
    coalesce(sum(points) FILTER (points > 0), 0) AS possible,
    coalesce(sum(points) FILTER (met), 0) AS achieved,
    coalesce(sum(points) FILTER (met IS NULL AND points > 0), 0) AS unknown_positive,
    coalesce(sum(points) FILTER (met IS NULL AND points < 0), 0) AS unknown_negative,
    coalesce(sum(points) FILTER (points < 0), 0) AS negative,
    count(*)::INTEGER AS n_items,
    (count(*) FILTER (met IS NULL))::INTEGER AS n_unknown,
    coalesce(sum(points) FILTER (marked AND points > 0), 0) AS marked_positive,
    coalesce(sum(points) FILTER (marked AND points < 0), 0) AS marked_negative,
    (count(*) FILTER (marked))::INTEGER AS n_marked
FROM {rows}
GROUP BY {key}
