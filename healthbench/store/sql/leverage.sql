-- How far each verdict can move the unclipped mean, the farthest first: its points over its example's positive points
-- and over the number of examples that have a score; {met} is the verdict that counts.
WITH scored AS (
    SELECT example, sum(points) FILTER (points > 0) AS possible
    FROM items
    GROUP BY example
    HAVING max(points) > 0 AND bool_and({met} IS NOT NULL)
),
moves AS (
    SELECT
        items.example,
        items.position,
        items.criterion,
        items.points,
        memory.main.state_of(items.points, {met}) AS state,
        abs(items.points) / scored.possible / (SELECT count(*) FROM scored) AS move
    FROM items JOIN scored USING (example)
)
SELECT
    moves.example, moves.position, moves.points, moves.state, moves.move, criteria.axis, criteria.text AS criterion,
    (SELECT median(move) FROM moves) AS median_move,
    (SELECT count(*) FROM moves) AS n_verdicts
FROM moves JOIN criteria USING (criterion)
ORDER BY moves.move DESC, moves.example, moves.position
LIMIT ?
