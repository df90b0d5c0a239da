"""What can go wrong between a file and its reader, whatever the format, as refusals."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from healthbench.errors import InputRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Turn what reading a file or folder meets into one sentence.

    Readers follow foreign nesting by recursion; Python's own limit bounds it, wherever the nesting stands.

    Args:
        name: What the file is called.

    Raises:
        InputRefusedError: It is missing, may not be read or fails while it is read, or is nested beyond Python's limit.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise InputRefusedError(
            f"{name} does not exist; check the path, or give another file."
        ) from error
    except OSError as error:
        raise InputRefusedError(
            f"{name} cannot be read ({error.strerror or error}); check that it is a readable file."
        ) from error
    except RecursionError as error:
        raise InputRefusedError(
            f"{name} is nested too deeply to be a graded run; give the file its producer wrote."
        ) from error
