"""Where things are: the user's store, and the folders that come with the project."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import SecretStr  # noqa: TC002 - pydantic reads the annotation when it runs
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings from environment variables with the prefix ``HEALTHBENCH_``.

    Attributes:
        home: Folder of the store (runs, data sets, reviews, grade cache).
        chromium: Browser for the browser tests and for image export; found on PATH where not set.
    """

    model_config = SettingsConfigDict(env_prefix="HEALTHBENCH_", extra="ignore")

    home: Path = Path(platformdirs.user_data_dir("healthbench", appauthor=False))
    chromium: Path | None = None


class ProviderSettings(BaseSettings):
    """The key for live grading, from ``OPENAI_API_KEY``; it is never stored and never shown."""

    model_config = SettingsConfigDict(extra="ignore")

    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None


def bundled(name: str) -> Path:
    """Return a folder that comes with the project: ``app``, ``sample_runs`` or ``.streamlit``.

    In a clone it stands beside the package, in a plain installation inside it.
    """
    package = Path(__file__).resolve().parent
    beside = package.parent / name
    return beside if beside.exists() else package / "_bundled" / name
