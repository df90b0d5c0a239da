"""What a report says of a run less another one, and the texts it shows where they are asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from healthbench import formatting
from healthbench.charts.compare import differences, flips_by_axis
from healthbench.comparison.flips import Flip, by_axis, by_axis_and_sign
from healthbench.comparison.output import verdict
from healthbench.report.parts import KINDS, SEVERE, Section, Table, chart, table_of
from healthbench.scoring.length import CHARACTERS_PER_PENALTY
from healthbench.store.point_sums import incurred_penalties
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from healthbench.comparison.pair import Comparison
    from healthbench.scoring.compare import PairedDifference
    from healthbench.store.library import Library


def comparison_section(found: Comparison, rows: pd.DataFrame) -> Section:
    """Return what is said of the run less another one."""
    checked, overall = found.gate, found.overall
    section = Section(
        f"{checked.names[1]} less {checked.names[0]}",
        figure=formatting.difference(overall.difference),
        paragraphs=[
            (
                f"Points of 100, 95 % interval {formatting.difference_interval(overall.low, overall.high)}, "
                f"{formatting.p_value(overall.p)}, on {formatting.count(overall.n_prompts)} shared prompts: {verdict(overall)}. "
                f"Better on {formatting.count(overall.wins)}, worse on {formatting.count(overall.losses)}, the same on {formatting.count(overall.ties)}. "
                f"{checked.graders.capitalize()}."
            ),
            *(finding.sentence for finding in checked.findings),
        ],
    )
    if found.length:
        section.paragraphs.append(
            f"At {found.adjustment.penalty:g} per {CHARACTERS_PER_PENALTY} characters, {formatting.difference(found.length.length)} of it "
            f"is length and {formatting.difference(found.length.adjusted)} is left."
        )
    for kind, title in {**KINDS, "category": "Physician categories"}.items():
        names = sorted((name for name in found.differences if kind_of(name) == kind), key=sort_key)
        if names:
            shown = [found.differences[name] for name in names]
            section.charts.append(
                chart(
                    f"differences_{kind}",
                    title,
                    f"{title}: differences with 95 % intervals; the table says the same.",
                    partial(differences, shown),
                )
            )
            section.folded.append(_difference_table(title, shown))
    signs = by_axis_and_sign(rows)
    section.charts.append(
        chart(
            "flips",
            "Criteria that flipped",
            "Criteria fixed and regressed by axis and sign; the table says the same.",
            lambda palette: flips_by_axis(signs, palette),
        )
    )
    axes = by_axis(rows)[["name", Flip.FIXED.value, Flip.REGRESSED.value, "moved", "p_holm"]]
    section.tables.append(
        table_of(
            "Criteria that flipped, with McNemar's test (criteria taken as independent)",
            axes.rename(columns={"moved": "points moved", "p_holm": "p (Holm)"}),
            {
                Flip.FIXED.value: formatting.count,
                Flip.REGRESSED.value: formatting.count,
                "points moved": formatting.points,
                "p (Holm)": formatting.p_value,
            },
        )
    )
    return section


def _difference_table(title: str, shown: Iterable[PairedDifference]) -> Table:
    return Table(
        title,
        ["name", "other run", "this run", "difference", "95 %", "p (Holm)", "n", "decisive"],
        [
            [
                display_name(row.name),
                formatting.score(row.first),
                formatting.score(row.second),
                formatting.difference(row.difference),
                formatting.difference_interval(row.low, row.high),
                formatting.p_value(row.p_holm),
                formatting.count(row.n_prompts),
                "yes" if row.decisive else "no",
            ]
            for row in shown
        ],
    )


def texts_section(library: Library, run_id: str) -> Section:
    """Return the texts of the worst incurred penalties and of the lowest examples; only where they are asked for."""
    worst = incurred_penalties(library, run_id, SEVERE).head(20)
    lowest, _ = library.examples(run_id, order="score", limit=5)
    rows = []
    for number in lowest["example"].tolist():
        view = library.example(run_id, int(number))
        turns = [f"{turn.role}: {turn.content}" for turn in view.prompt]
        rows.append(
            [
                str(view.example + 1),
                "\n\n".join([*turns, f"reply: {view.reply}"]),
                formatting.fraction(view.tally.score, 3),
            ]
        )
    return Section(
        "Texts",
        tables=[
            Table(
                f"Penalties of {formatting.points(SEVERE)} points or worse that were incurred",
                ["example", "criterion", "points"],
                [
                    [str(row["example"] + 1), row["criterion"], formatting.points(row["points"])]
                    for row in worst.to_dict("records")
                ],
                numbers_from=2,
            ),
            Table(
                "The lowest example scores", ["example", "conversation and reply", "score"], rows, 2
            ),
        ],
    )
