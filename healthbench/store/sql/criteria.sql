SELECT criterion, text, points, tags, axis, level, cluster
FROM criteria JOIN tag_sets USING (tag_set)
