-- Signed points and criteria by axis and state; {met} is the verdict that counts.
SELECT
    criteria.axis,
    memory.main.state_of(items.points, {met}) AS state,
    sum(items.points) AS points,
    count(*) AS n
FROM items JOIN criteria USING (criterion)
GROUP BY criteria.axis, memory.main.state_of(items.points, {met}), items.points > 0
