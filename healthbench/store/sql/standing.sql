-- The mean score of each prompt of a run, and a hash of its rubric's texts and points that holds within one process.
WITH keyed AS (SELECT criterion, hash(text, points) AS scored FROM criteria),
rubrics AS (
    SELECT items.example, sum(keyed.scored::HUGEINT) AS scored
    FROM items JOIN keyed USING (criterion)
    GROUP BY items.example
)
SELECT
    examples.prompt_id,
    hash(sum(DISTINCT coalesce(rubrics.scored, 0))) AS rubric,
    avg({score}) AS score
FROM examples LEFT JOIN rubrics USING (example)
GROUP BY examples.prompt_id
ORDER BY examples.prompt_id
