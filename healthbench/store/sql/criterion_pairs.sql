-- The criteria of paired examples side by side: the k-th criterion of the same text and points with the k-th.
-- {first} and {second} are the schemas of the two runs, {met} the column of the verdicts that count.
WITH pairs AS (SELECT unnest(?::INTEGER[]) AS first, unnest(?::INTEGER[]) AS second),
first_items AS (
    SELECT
        pairs.first, pairs.second, items.position, items.criterion, items.points, items.{met} AS met,
        criteria.axis, criteria.text,
        row_number() OVER (PARTITION BY items.example, criteria.text, items.points ORDER BY items.position) AS place
    FROM pairs
    JOIN {first}.items AS items ON items.example = pairs.first
    JOIN {first}.criteria AS criteria USING (criterion)
),
second_items AS (
    SELECT
        pairs.second, items.position, items.points, items.{met} AS met, criteria.text,
        row_number() OVER (PARTITION BY items.example, criteria.text, items.points ORDER BY items.position) AS place
    FROM pairs
    JOIN {second}.items AS items ON items.example = pairs.second
    JOIN {second}.criteria AS criteria USING (criterion)
)
SELECT
    one.first, one.second, one.position AS position_first, two.position AS position_second,
    one.criterion, one.points, one.axis,
    coalesce(one.met::TINYINT, -1) AS met_first, coalesce(two.met::TINYINT, -1) AS met_second
FROM first_items AS one
JOIN second_items AS two
    ON two.second = one.second AND two.place = one.place AND two.points = one.points AND two.text = one.text
ORDER BY one.first, one.position
