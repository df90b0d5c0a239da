-- Every verdict of a run with what queues are made from; texts are left out.
SELECT
    items.example,
    items.position,
    items.points,
    items.met,
    criteria.axis,
    criteria.cluster,
    themes.theme,
    examples.prompt_id,
    examples.possible,
    examples.n_unknown
FROM items
JOIN criteria USING (criterion)
JOIN examples USING (example)
LEFT JOIN (SELECT example, min(tag) AS theme FROM example_tags WHERE tag LIKE 'theme:%' GROUP BY example) AS themes
    ON themes.example = items.example
ORDER BY items.example, items.position
