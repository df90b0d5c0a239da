"""Grade replies criterion by criterion with a model, one by one or in bulk, and keep what it cost."""
