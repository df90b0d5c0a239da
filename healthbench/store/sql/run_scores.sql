SELECT
    example,
    dense_rank() OVER (ORDER BY prompt_id) - 1 AS prompt,
    characters,
    possible, achieved, unknown_positive, unknown_negative, negative, n_items, n_unknown,
    marked_positive, marked_negative, n_marked
FROM examples
ORDER BY example
