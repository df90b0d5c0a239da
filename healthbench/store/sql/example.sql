SELECT
    example, prompt_id, repeat, completion_id, prompt, reply, characters, stated_score, error,
    possible, achieved, unknown_positive, unknown_negative, negative, n_items, n_unknown,
    (SELECT count(*) FROM examples AS same WHERE same.prompt_id = examples.prompt_id) AS n_repeats
FROM examples
WHERE example = ?
