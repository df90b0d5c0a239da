"""Tables as files: numbers whole, texts only where asked for."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "app"))
from components.downloads import as_csv, as_parquet, without_texts

TABLE = pd.DataFrame(
    {
        "example": [1, 2],
        "score": [0.1 + 0.2, None],
        "mixed": ["a", 5],
        "criterion": ["Says “yes”, or not", "مرحبا"],
    }
)


def test_csv_keeps_numbers_and_texts():
    text = as_csv(TABLE)
    assert text.startswith("\ufeff".encode())
    again = pd.read_csv(io.BytesIO(text), encoding="utf-8-sig")
    assert again["score"][0] == 0.1 + 0.2
    assert again["criterion"].tolist() == TABLE["criterion"].tolist()


def test_parquet_takes_mixed_columns():
    again = pd.read_parquet(io.BytesIO(as_parquet(TABLE)))
    assert again["mixed"].tolist() == ["a", "5"]
    assert again["score"].isna().tolist() == [False, True]


def test_texts_are_left_out():
    assert without_texts(TABLE).columns.tolist() == ["example", "score", "mixed"]


def test_every_table_and_the_report_are_offered(open_page, one_run):
    app = open_page("score", one_run)
    labels = [button.label for button in app.get("download_button")]
    assert {"CSV", "Parquet", "Write the report"} <= set(labels)
