-- Penalty points by axis, and those of them that no axis score contains: on criteria without an axis, and on an axis
-- that has only penalties in its example, where its score is undefined. {met} is the verdict that counts.
WITH of_axis AS (
    SELECT
        items.example,
        criteria.axis,
        criteria.axis IS NULL OR max(items.points) < 0 AS blind,
        coalesce(-sum(items.points) FILTER (items.points < 0), 0) AS penalty,
        coalesce(-sum(items.points) FILTER (items.points < 0 AND {met}), 0) AS incurred,
        count(*) FILTER (items.points < 0) AS penalties,
        count(*) FILTER (items.points < 0 AND {met}) AS times_incurred
    FROM items JOIN criteria USING (criterion)
    GROUP BY items.example, criteria.axis
)
SELECT
    axis,
    sum(penalty) AS penalty,
    coalesce(sum(penalty) FILTER (blind), 0) AS blind_penalty,
    sum(incurred) AS incurred,
    coalesce(sum(incurred) FILTER (blind), 0) AS blind_incurred,
    sum(penalties)::BIGINT AS penalties,
    coalesce(sum(penalties) FILTER (blind), 0)::BIGINT AS blind_penalties,
    sum(times_incurred)::BIGINT AS times_incurred,
    coalesce(sum(times_incurred) FILTER (blind), 0)::BIGINT AS blind_times_incurred,
    count(*) FILTER (blind AND penalty > 0) AS blind_examples
FROM of_axis
GROUP BY axis
