"""The arithmetic. It knows no files, no database and no screen."""
