-- Which paired examples have the very same reply; {first} and {second} are the schemas of the two runs.
SELECT one.reply = two.reply AS same
FROM (SELECT unnest(?::INTEGER[]) AS first, unnest(?::INTEGER[]) AS second, unnest(?::INTEGER[]) AS place) AS pairs
JOIN {first}.examples AS one ON one.example = pairs.first
JOIN {second}.examples AS two ON two.example = pairs.second
ORDER BY pairs.place
