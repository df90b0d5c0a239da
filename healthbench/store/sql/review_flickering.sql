-- Criteria whose verdict differs between the replies to one prompt.
WITH verdicts AS (
    SELECT items.example, items.position, examples.prompt_id, criteria.text, items.met
    FROM items JOIN criteria USING (criterion) JOIN examples USING (example)
    WHERE items.met IS NOT NULL
)
SELECT example, position FROM verdicts
WHERE (prompt_id, text) IN (
    SELECT (prompt_id, text) FROM verdicts GROUP BY prompt_id, text HAVING bool_or(met) AND NOT bool_and(met)
)
ORDER BY example, position
