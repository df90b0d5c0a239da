-- What each prompt of a run was graded on. scored: hash over criterion texts and points, in any order; tagged: the same
-- with the tags; conversation: hash over the turns. Repeats with one rubric give that rubric's hash.
WITH keyed AS (
    SELECT
        criterion,
        md5_number_lower(concat_ws(chr(31), text, points)) AS scored,
        md5_number_lower(concat_ws(chr(31), text, points, array_to_string(list_sort(list_distinct(tags)), chr(30))))
            AS tagged
    FROM criteria
),
rubrics AS (
    SELECT items.example, sum(keyed.scored::HUGEINT) AS scored, sum(keyed.tagged::HUGEINT) AS tagged
    FROM items JOIN keyed USING (criterion)
    GROUP BY items.example
)
SELECT
    examples.prompt_id,
    md5_number_lower(sum(DISTINCT coalesce(rubrics.scored, 0))::VARCHAR) AS scored,
    md5_number_lower(sum(DISTINCT coalesce(rubrics.tagged, 0))::VARCHAR) AS tagged,
    md5_number_lower(min(examples.prompt)) AS conversation,
    count(*) AS replies
FROM examples LEFT JOIN rubrics USING (example)
GROUP BY examples.prompt_id
ORDER BY examples.prompt_id
