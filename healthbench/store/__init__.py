"""Graded runs on disk: immutable folders of Parquet files, written and read by DuckDB.

``run_folder`` writes one run, ``library`` opens many and answers questions, ``journal`` keeps reviews. The SQL is in
``sql/``; it names the tables of one run without a schema, and the library points it at the run.
"""
