"""Stop with one sentence where this Python cannot run the project. Must run on any Python 3."""

import sys

if sys.version_info < (3, 11):
    found = ".".join(str(part) for part in sys.version_info[:2])
    sys.exit(
        f"Python 3.11 or newer is needed, this is {found}: install it and run make with PYTHON=python3.11."
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit(
        "Python's venv module is missing: install it "
        "(Debian and Ubuntu: apt-get install python3-venv) and run make again."
    )
