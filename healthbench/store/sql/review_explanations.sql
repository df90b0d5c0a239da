SELECT items.example, items.position, items.met, criteria.text AS criterion, items.explanation
FROM items JOIN criteria USING (criterion)
WHERE items.met IS NOT NULL AND items.explanation IS NOT NULL
ORDER BY items.example, items.position
