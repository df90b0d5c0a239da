-- scoring/example.py defines the states; a property test holds the two equal.
CREATE MACRO state_of(points, met) AS CASE
    WHEN met IS NULL THEN 'unknown'
    WHEN points > 0 THEN CASE WHEN met THEN 'earned' ELSE 'missed' END
    ELSE CASE WHEN met THEN 'incurred' ELSE 'avoided' END
END;
CREATE TABLE dataset_tags (prompt_id VARCHAR, example_tags VARCHAR[])
