-- Example tags of the run in the current schema: from its file, else from an attached data set by prompt_id, else
-- what its consensus clusters imply.
CREATE OR REPLACE VIEW example_tags AS
SELECT example, unnest(example_tags) AS tag, 'file' AS source
FROM examples WHERE example_tags IS NOT NULL
UNION ALL
SELECT examples.example, unnest(known.example_tags), 'dataset'
FROM examples JOIN memory.main.dataset_tags AS known USING (prompt_id)
WHERE examples.example_tags IS NULL
UNION ALL
SELECT examples.example, unnest(examples.inferred_tags), 'inferred'
FROM examples ANTI JOIN memory.main.dataset_tags AS known USING (prompt_id)
WHERE examples.example_tags IS NULL
