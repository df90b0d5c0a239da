SELECT
    examples.*,
    coalesce(possible, 0) AS possible,
    coalesce(achieved, 0) AS achieved,
    coalesce(unknown_positive, 0) AS unknown_positive,
    coalesce(unknown_negative, 0) AS unknown_negative,
    coalesce(negative, 0) AS negative,
    coalesce(n_items, 0) AS n_items,
    coalesce(n_unknown, 0) AS n_unknown,
    coalesce(marked_positive, 0) AS marked_positive,
    coalesce(marked_negative, 0) AS marked_negative,
    coalesce(n_marked, 0) AS n_marked
FROM examples_{part} AS examples LEFT JOIN ({tallies}) AS tallies ON tallies.example = examples.example
