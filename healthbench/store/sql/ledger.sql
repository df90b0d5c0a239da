SELECT
    items.position,
    items.criterion AS criterion_id,
    items.points,
    items.stored,
    items.failure,
    items.met,
    memory.main.state_of(items.points, items.met) AS state,
    criteria.text AS criterion,
    criteria.tags,
    criteria.axis,
    criteria.level,
    criteria.cluster,
    items.explanation
FROM items JOIN criteria USING (criterion)
WHERE items.example = ?
ORDER BY items.position
