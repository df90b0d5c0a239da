-- Replies and conversations by each unprefixed example tag, as HealthBench Professional has them.
SELECT tag, count(DISTINCT prompt_id) AS conversations, count(*) AS examples
FROM example_tags JOIN examples USING (example)
WHERE NOT contains(tag, ':')
GROUP BY tag
