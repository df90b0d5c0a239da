-- Criteria whose verdict differs between two runs on the same prompt and repeat, with whether the replies are equal.
WITH first AS (
    SELECT items.example, items.position, examples.prompt_id, examples.repeat, examples.reply, criteria.text, items.met
    FROM {first}.items AS items JOIN {first}.criteria AS criteria USING (criterion)
    JOIN {first}.examples AS examples USING (example)
),
second AS (
    SELECT items.example, items.position, examples.prompt_id, examples.repeat, examples.reply, criteria.text, items.met
    FROM {second}.items AS items JOIN {second}.criteria AS criteria USING (criterion)
    JOIN {second}.examples AS examples USING (example)
)
SELECT DISTINCT
    first.example, first.position, second.example AS other_example, second.position AS other_position,
    first.reply = second.reply AS same_reply
FROM first JOIN second USING (prompt_id, repeat, text)
WHERE first.met <> second.met
ORDER BY first.example, first.position
