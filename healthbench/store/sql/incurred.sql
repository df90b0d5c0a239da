-- Penalties of at most the given (negative) points that were incurred, worst first.
SELECT items.example, items.position, items.points, criteria.axis, criteria.text AS criterion
FROM items JOIN criteria USING (criterion)
WHERE items.points <= ? AND {met}
ORDER BY items.points, items.example, items.position
