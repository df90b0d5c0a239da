"""What a report says, section by section, as text, tables and charts; how it looks is the template's business."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench import formatting
from healthbench.charts.distribution import example_scores
from healthbench.charts.intervals import Mean, dots
from healthbench.charts.points import where_points_went
from healthbench.charts.theme import DARK, LIGHT, Palette
from healthbench.comparison.fingerprint import fingerprint
from healthbench.scoring.aggregate import RULES, early_late_gap
from healthbench.scoring.length import CHARACTERS_PER_PENALTY, PRESETS, mean_adjusted, preset_for
from healthbench.store.point_sums import incurred_penalties, points_by_axis
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    import plotly.graph_objects as go

    from healthbench.run_figures import RunFigures
    from healthbench.scoring.run_scores import FloatArray, RunScores
    from healthbench.scoring.uncertainty import Interval
    from healthbench.store.library import Library

SEVERE = -8
"""Penalties of this many points or worse are counted apart."""
_STRIP_UP_TO = 5_000
_THEMES_FROM = {
    "file": "from the file",
    "dataset": "from an attached data set",
    "inferred": "only inferred from consensus clusters, not counted here",
}
KINDS = {"theme": "Themes", "axis": "Axes"}
_FURTHER = {"category": "Physician categories", "level": "Levels", "tag": "Other tags"}


class Table(NamedTuple):
    """A table of texts; the columns from ``numbers_from`` on are numbers, set to the right."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    numbers_from: int = 1


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure in both appearances, with its title and what it says in a sentence."""

    id: str
    title: str
    alt: str
    light: go.Figure = field(repr=False)
    dark: go.Figure = field(repr=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A section: a figure in large type, paragraphs, charts, tables; ``folded`` tables open on demand."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    folded: list[Table] = field(default_factory=list)
    figure: str = ""


Facts = dict[str, str]


def facts(library: Library, figures: RunFigures) -> Facts:
    """Return the conditions of a run by name."""
    summary, info = figures.summary, figures.summary.info
    taken = fingerprint(library, summary.id)
    return {
        "Model": info.model or "not recorded",
        "Benchmark": info.benchmark or "not recorded",
        "Grader": info.grader or "not recorded",
        "Made": info.created or "not recorded",
        "Examples": f"{formatting.count(summary.n_examples)}, {formatting.count(summary.n_prompts)} prompts, "
        f"{taken.replies_in_words} a prompt",
        "Criteria": f"{formatting.count(summary.n_items)}, {formatting.count(summary.n_unknown)} verdicts unknown",
        "Themes": _THEMES_FROM.get(figures.themes_from, "not known"),
        "Format": info.format,
        "Files": ", ".join(
            f"{name} (sha256 {digest[:16]}…)" for name, digest in summary.files.items()
        ),
        "Fingerprints": f"prompts {taken.prompt_set}, rubrics and tags {taken.rubric}",
        **{f"Setting {name}": value for name, value in info.settings.items()},
    }


def run_sections(
    library: Library,
    figures: RunFigures,
    scores: RunScores,
    intervals: Mapping[str, Interval],
) -> list[Section]:
    """Return what is said of the run alone, its score first."""
    return [
        _score(figures),
        _distribution(figures, scores.overall.scores),
        _means(figures, intervals),
        _points(library, figures.summary.id),
        _clipping(scores),
        _length(figures, scores),
        _verification(figures),
        _import(figures),
    ]


def _score(figures: RunFigures) -> Section:
    head, summary = figures.headline, figures.summary
    paragraphs = [
        (
            f"Points of 100: the mean of {formatting.count(head.n_scored)} example scores, clipped once "
            f"at the end. 95 % interval of the unclipped mean {formatting.interval(head.ci_low, head.ci_high)}, by prompt. "
            f"{formatting.graded(head.n_scored, summary.n_examples)}."
        )
    ]
    if summary.n_unknown:
        paragraphs.append(
            f"{formatting.count(summary.n_unknown)} verdicts are unknown and are not counted as not met; whatever they would "
            f"have been, the mean lies in {formatting.interval(head.low, head.high)}."
        )
    rows = [
        ["Unclipped mean", formatting.score(head.unclipped)],
        [
            "Each example clipped first (not the official score)",
            formatting.score(head.early_clipped),
        ],
        ["Standard error, by prompt", formatting.score(head.standard_error)],
        [
            "Examples below 0",
            f"{formatting.count(head.below_zero)} of {formatting.count(head.n_scored)}",
        ],
        ["Mean length of a reply", formatting.characters(summary.mean_characters)],
    ]
    return Section(
        "Score",
        paragraphs,
        tables=[Table("Beside the score", ["figure", "value"], rows)],
        figure=formatting.score(head.score),
    )


def _distribution(figures: RunFigures, scores: FloatArray) -> Section:
    head = figures.headline
    if head.unclipped is None:
        return Section("Example scores", ["No example has a score."])
    mean = head.unclipped
    return Section(
        "Example scores",
        [
            "Unclipped: scores below 0 pull the mean down as they are. The lines mark 0 and 1, the dotted one the mean."
        ],
        [
            chart(
                "distribution",
                "Distribution",
                f"Distribution of {formatting.count(head.n_scored)} example scores; {formatting.count(head.below_zero)} are below 0.",
                lambda palette: (
                    example_scores(scores[:_STRIP_UP_TO], palette, mean)
                    if len(scores) <= _STRIP_UP_TO
                    else _bars_only(scores, palette, mean)
                ),
            )
        ],
    )


def _bars_only(scores: FloatArray, palette: Palette, mean: float) -> go.Figure:
    """Leave the dots out where there are so many that they would be most of the file."""
    figure = example_scores(scores, palette, mean)
    figure.data = figure.data[:1]
    return figure


def _means(figures: RunFigures, intervals: Mapping[str, Interval]) -> Section:
    section = Section("Themes and axes")
    for kind, title in {**KINDS, **_FURTHER}.items():
        names = sorted((name for name in figures.metrics if kind_of(name) == kind), key=sort_key)
        if not names:
            continue
        table = Table(
            title,
            ["name", "score", "unclipped", "95 %", "n"],
            [_mean_row(name, figures, intervals) for name in names],
        )
        if kind in KINDS:
            section.tables.append(table)
            means = [_mean(name, figures, intervals) for name in names]
            section.charts.append(
                chart(
                    f"means_{kind}",
                    title,
                    f"{title} with 95 % intervals; the table says the same.",
                    partial(dots, means, reference=figures.headline.unclipped),
                )
            )
        else:
            section.folded.append(table)
    section.paragraphs.append(
        "A theme averages its examples' own scores; an axis scores the criteria on it, where an example has a positive one. "
        f"Means of fewer than {formatting.FEW} examples are marked."
        if section.tables
        else "The run carries no themes and no axes."
    )
    return section


def _mean(name: str, figures: RunFigures, intervals: Mapping[str, Interval]) -> Mean:
    metric, spread = figures.metrics[name], intervals.get(name)
    low, high = (spread.low, spread.high) if spread else (None, None)
    return Mean(display_name(name), metric.unclipped, low, high, metric.n)


def _mean_row(name: str, figures: RunFigures, intervals: Mapping[str, Interval]) -> list[str]:
    mean = _mean(name, figures, intervals)
    return [
        mean.name,
        formatting.score(figures.metrics[name].score),
        formatting.score(mean.value),
        formatting.interval(mean.low, mean.high),
        formatting.sample_size(mean.n).removeprefix("n = "),
    ]


def _points(library: Library, run_id: str) -> Section:
    sums = points_by_axis(library, run_id)
    names = list(dict.fromkeys(sums["name"]))
    severe = incurred_penalties(library, run_id, SEVERE)
    return Section(
        "Where the points went",
        [
            (
                f"Penalties of {formatting.points(SEVERE)} points or worse that were incurred: {formatting.count(len(severe))}. "
                f"Examples with one: {formatting.count(severe['example'].nunique())}."
            )
        ],
        [
            chart(
                "points",
                "Points by axis",
                "Points earned, missed, incurred and avoided on each axis; the table says the same.",
                lambda palette: where_points_went(sums, names, palette),
            )
        ],
        folded=[
            table_of(
                "Points by axis and state",
                sums,
                {"points": formatting.points, "n": formatting.count},
                numbers_from=2,
            )
        ],
    )


def _clipping(scores: RunScores) -> Section:
    gap = early_late_gap(scores.overall.scores)
    section = Section("Clipping")
    if gap is None:
        section.paragraphs.append("No example has a score.")
        return section
    section.paragraphs.append(
        f"Clipping each example first would give {formatting.score(gap.early)} instead of {formatting.score(gap.late)}: "
        f"{formatting.score(gap.lifted_below_zero)} lifted from below 0, {formatting.score(gap.cut_above_one)} cut above 1."
    )
    section.tables.append(
        Table(
            "The same verdicts by every named rule",
            ["rule", "what it computes", "used by", "score"],
            [
                [
                    rule.title,
                    rule.description,
                    ", ".join(rule.used_by) or formatting.DASH,
                    formatting.score(rule(scores)),
                ]
                for rule in RULES.values()
            ],
            numbers_from=3,
        )
    )
    return section


def _length(figures: RunFigures, scores: RunScores) -> Section:
    price = PRESETS[preset_for(figures.summary.info.benchmark, scores.metrics)]
    found = mean_adjusted(scores, price)
    if found is None:
        return Section("Length", ["No example has a score."])
    return Section(
        "Length",
        [
            (
                f"Replies have {formatting.characters(found.mean_characters)} on average. At {price.penalty:g} per {CHARACTERS_PER_PENALTY} "
                f"characters above {formatting.count(price.center)} the adjusted score is {formatting.score(found.score)} "
                f"(raw {formatting.score(found.raw)}, both over {formatting.count(found.n)} examples). The adjustment prices length at a "
                "published rate; it does not say that a shorter reply would have scored the same."
            )
        ],
    )


def _verification(figures: RunFigures) -> Section:
    found = figures.verification
    if found is None or not found.comparisons:
        return Section("Verification", ["The file states no figures to hold ours against."])
    section = Section(
        "Verification",
        [
            f"{formatting.count(found.matching)} of {formatting.count(len(found.comparisons))} figures that the file states equal ours to 1e-12."
        ],
    )
    if found.differences:
        section.tables.append(
            Table(
                "Figures that differ",
                ["figure", "file states", "recomputed"],
                [
                    [
                        one.name,
                        formatting.fraction(one.stated, 12),
                        formatting.fraction(one.ours, 12),
                    ]
                    for one in found.differences
                ],
            )
        )
    return section


def _import(figures: RunFigures) -> Section:
    given = figures.summary.report
    rows = [
        ["Recognised by", given.recognised_by],
        ["Examples imported", formatting.count(given.rows_read)],
        *(
            [f"Left out: {reason}", formatting.count(number)]
            for reason, number in given.rows_skipped.items()
        ),
        *(
            [f"Verdicts stored as {kind}", formatting.count(number)]
            for kind, number in given.verdicts.items()
        ),
    ]
    return Section(
        "Import report",
        [*given.duplicates, *given.warnings],
        tables=[Table("What the import understood", ["what", "value"], rows)],
    )


def table_of(
    caption: str,
    frame: pd.DataFrame,
    formats: Mapping[str, Callable[[Any], str]],
    numbers_from: int = 1,
) -> Table:
    """Write a frame as a table of texts; a column without a format is written as it stands."""
    return Table(
        caption,
        [str(name) for name in frame.columns],
        [
            [formats.get(str(name), str)(value) for name, value in row.items()]
            for row in frame.to_dict("records")
        ],
        numbers_from,
    )


def chart(name: str, title: str, alt: str, draw: Callable[[Palette], go.Figure]) -> Chart:
    """Draw a figure for both appearances."""
    return Chart(name, title, alt, draw(LIGHT), draw(DARK))
