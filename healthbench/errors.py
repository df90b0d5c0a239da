"""The one family of errors a user is meant to read.

Every message is one sentence that says what is wrong, where (file, example, field) and what to do.
It never carries a key or the text of a message or reply.
"""


class HealthBenchError(Exception):
    """Base of all errors with a message for the user."""


class InputRefusedError(HealthBenchError):
    """The input cannot be used as it is; nothing was imported (exit status 2)."""


class NotAGradedRunError(InputRefusedError):
    """The file was recognised, but it holds no graded run (metrics only, a data set, ...)."""


class ColumnsUnknownError(NotAGradedRunError):
    """The file is a table whose column names do not say what they hold; a column mapping makes it a run."""


class StoreError(HealthBenchError):
    """The store on disk cannot be read or written."""


class GradingError(HealthBenchError):
    """A grading could not be started or had to stop."""
