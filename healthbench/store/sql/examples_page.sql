SELECT
    example, prompt_id, repeat,
    (SELECT min(tag) FROM example_tags WHERE example_tags.example = examples.example AND tag LIKE 'theme:%') AS theme,
    achieved / nullif(CASE WHEN n_unknown = 0 THEN possible END, 0) AS score,
    (achieved + unknown_negative) / nullif(possible, 0) AS low,
    (achieved + unknown_positive) / nullif(possible, 0) AS high,
    possible, achieved, n_items, n_unknown, characters, n_messages, prompt
FROM examples
WHERE {where}
ORDER BY {order}
LIMIT ? OFFSET ?
