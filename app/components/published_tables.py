"""Published results as tables and plots, each with the conditions it holds under and its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from components.chart import chart, palette, show_table
from healthbench import published
from healthbench.charts.published import raw_and_adjusted, run_spread
from healthbench.formatting import count, fraction, percent, score
from healthbench.scoring.length import PRESETS
from healthbench.taxonomy import USE_CASES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

    from healthbench.published import Table

_BENCHMARKS = {
    "professional": "Professional",
    "healthbench": "HealthBench",
    "hard": "Hard",
    "consensus": "Consensus",
}


def _one_decimal(value: float) -> str:
    return fraction(value, 1)


def _three_decimals(value: float) -> str:
    return fraction(value, 3)


def results() -> None:
    """Show the published results of HealthBench, its subsets, and Professional."""
    _spread()
    _with_length()
    _table(
        published.PROFESSIONAL,
        ("system", "all", "consult", "writing", "research", "red teaming", "good faith, typical"),
        dict.fromkeys(
            ("all", "consult", "writing", "research", "red teaming", "good faith, typical"),
            _one_decimal,
        ),
    )
    _table(
        published.PHYSICIANS,
        ("group", "physicians", "references", "better than them", "worse"),
        {
            "physicians": score,
            "references": score,
            "better than them": percent,
            "worse": percent,
        },
    )
    _table(published.OVERALL_FROM_FIGURES, ("model", "score"), {"score": score})
    _table(published.HARD, ("model", "score"), {"score": score})
    _table(published.CONSENSUS_OVERALL, ("model", "score"), {"score": score})
    _consensus()


def grader_validation() -> None:
    """Show how graders agreed with physicians."""
    _table(published.GRADERS, ("grader", "macro F1"), {"macro F1": _three_decimals})
    _table(
        published.GRADER_BY_THEME,
        ("theme", "physicians", "physicians' mean", "GPT-4.1", "percentile of GPT-4.1"),
        {
            "physicians' mean": _three_decimals,
            "GPT-4.1": _three_decimals,
            "percentile of GPT-4.1": _one_decimal,
        },
    )


def anatomy() -> None:
    """Show the sizes of the benchmarks and what their parts count."""
    _table(
        published.SIZES,
        (
            "set",
            "conversations",
            "multi-turn",
            "criterion assignments",
            "penalties",
            "unique criteria",
        ),
        dict.fromkeys(
            (
                "conversations",
                "multi-turn",
                "criterion assignments",
                "penalties",
                "unique criteria",
            ),
            count,
        ),
    )
    for table, unit in (
        (published.THEMES, "conversations"),
        (published.AXES, "criterion assignments"),
        (published.LEVELS, "criterion assignments"),
    ):
        total = sum(row.value for row in table.rows)
        rows = [(row.name, row.value, row.value / total) for row in table.rows]
        _table(table, ("name", unit, "share"), {unit: count, "share": percent}, rows)
    tasks = [(USE_CASES[row.use_case], *row[1:]) for row in published.PROFESSIONAL_TASKS.rows]
    _table(
        published.PROFESSIONAL_TASKS,
        (
            "use case",
            "good faith, typical",
            "good faith, difficult",
            "red teaming, difficult",
            "all",
        ),
        {},
        tasks,
    )


def sources() -> None:
    """List the sources of the figures, with links."""
    st.markdown(
        "\n".join(f"- [{source.title}]({source.address})" for source in published.SOURCES.values())
    )


def _spread() -> None:
    table = published.RUN_SPREAD
    columns = ("model", "mean", "lowest", "highest", "SD over runs")
    box = _box(table)
    if not box.open:
        return
    with box:
        chart(
            run_spread(table.rows, palette()),
            key="run_spread",
            alt="Mean and range of the overall score over 16 full runs: "
            + ", ".join(f"{row.model} {score(row.mean)}" for row in table.rows)
            + ".",
        )
        _body(table, columns, dict.fromkeys(columns[1:], fraction))


def _with_length() -> None:
    table = published.LENGTH_ROWS
    box = _box(table)
    if not box.open:
        return
    with box:
        benchmark = st.segmented_control(
            "Benchmark",
            list(_BENCHMARKS),
            default="professional",
            required=True,
            key="length_rows_benchmark",
            format_func=_BENCHMARKS.get,
            wrap=True,
        )
        rows = [row for row in table.rows if row.benchmark == benchmark]
        chart(
            raw_and_adjusted(rows, PRESETS[benchmark].center, palette()),
            key="length_rows",
            alt=f"Raw and adjusted scores of {len(rows)} models against their mean reply length.",
        )
        _body(
            table,
            ("model", "adjusted", "raw", "mean characters", "source"),
            {"adjusted": _one_decimal, "raw": _one_decimal, "mean characters": count},
            [(*row[1:5], published.SOURCES[row.source].title) for row in rows],
            key=f"length_rows_{benchmark}",
        )


def _consensus() -> None:
    names = published.CONSENSUS_MODELS
    _table(
        published.CONSENSUS,
        ("theme", "category", "criterion", "n (inferred)", *names),
        {**dict.fromkeys(names, score), "n (inferred)": count},
        [(*row[:4], *row[4]) for row in published.CONSENSUS.rows],
    )


def _table(
    table: Table[Any],
    columns: Sequence[str],
    formats: Mapping[str, Callable[[Any], str]],
    rows: Sequence[Sequence[Any]] | None = None,
) -> None:
    box = _box(table)
    if box.open:
        with box:
            _body(table, columns, formats, rows)


def _box(table: Table[Any]) -> ExpanderContainer:
    """Return a folded box whose content is only made once it is opened: most readers open one or two."""
    return st.expander(table.title, key=f"box_{table.title}", on_change="rerun")


def _body(
    table: Table[Any],
    columns: Sequence[str],
    formats: Mapping[str, Callable[[Any], str]],
    rows: Sequence[Sequence[Any]] | None = None,
    *,
    key: str = "",
) -> None:
    frame = pd.DataFrame(table.rows if rows is None else rows, columns=list(columns))
    for column in formats:
        frame[column] = frame[column].astype(float)
    show_table(frame, key=f"published_{key or table.title}", alt=table.title, formats=formats)
    source = published.SOURCES[table.source]
    st.caption(f"{table.conditions} Source: {table.place}, [{source.title}]({source.address}).")
