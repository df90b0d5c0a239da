SELECT
    tag, example,
    possible, achieved, unknown_positive, unknown_negative, negative, n_items, n_unknown,
    marked_positive, marked_negative, n_marked
FROM tag_scores
ORDER BY tag, example
