SELECT
    examples.example,
    examples.repeat,
    examples.reply,
    criteria.text,
    items.points,
    items.met
FROM examples
JOIN items ON items.example = examples.example
JOIN criteria USING (criterion)
WHERE examples.prompt_id = ?
ORDER BY examples.example, items.position
