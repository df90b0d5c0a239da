-- All verdicts of some examples, to score these again with other verdicts.
SELECT items.example, items.position, items.points, items.met, items.stored, criteria.tags
FROM items JOIN criteria USING (criterion)
WHERE list_contains(?, items.example)
ORDER BY items.example, items.position
