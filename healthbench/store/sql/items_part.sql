-- met is the verdict that counts: NULL where unknown, which a failed grade stored as false is.
CREATE VIEW items_{part} AS
SELECT
    verdicts.example,
    verdicts.position,
    verdicts.criterion,
    criteria.points,
    verdicts.stored,
    verdicts.failure,
    CASE WHEN verdicts.failure IS NULL OR verdicts.stored THEN verdicts.stored END AS met,
    verdicts.explanation
FROM verdicts_{part} AS verdicts JOIN criteria USING (criterion);
CREATE VIEW counted_{part} AS
SELECT *, stored IS FALSE AND failure IS NOT NULL AS marked FROM items_{part};
CREATE VIEW tagged_{part} AS
SELECT counted.*, unnest(list_distinct(tag_sets.tags)) AS tag
FROM counted_{part} AS counted JOIN criteria USING (criterion) JOIN tag_sets USING (tag_set)
