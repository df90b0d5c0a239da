SELECT tag, example FROM example_tags WHERE list_contains(?, source) ORDER BY tag, example
