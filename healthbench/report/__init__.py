"""One self-contained HTML file about a run: opens offline, asks nothing of the network, prints, light and dark.

What the file shows of foreign text is escaped by the template, its scripts are named by their hashes in a content
security policy, and that policy allows no request at all.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
from datetime import UTC, datetime
from importlib import metadata
from importlib.resources import files as package_files
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from healthbench.charts.theme import DARK, LIGHT
from healthbench.comparison.flips import flips
from healthbench.comparison.pair import compare, side
from healthbench.errors import InputRefusedError
from healthbench.export import canary_of_run
from healthbench.report.further import comparison_section, texts_section
from healthbench.report.parts import Facts, Section, facts, run_sections
from healthbench.report.reviewed import reviewed_section
from healthbench.review.effective import human_verdicts
from healthbench.review.reviewed import reviewed_run
from healthbench.run_figures import run_figures
from healthbench.scoring.uncertainty import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from healthbench.store.journal import Event
    from healthbench.store.library import Library
    from healthbench.store.records import RunSummary

_LONGEST_NAME = 50
"""Of a run's name in a file's: systems take 255 bytes, and a letter can be four."""

_BOOT = """
const known = JSON.parse(document.getElementById("figures").textContent);
const darkness = matchMedia("(prefers-color-scheme: dark)");
function draw(theme) {
  for (const [id, figure] of Object.entries(known)) {
    Plotly.react(id, figure[theme].data, figure[theme].layout, {displayModeBar: false, responsive: true});
  }
}
draw(darkness.matches ? "dark" : "light");
darkness.addEventListener("change", () => draw(darkness.matches ? "dark" : "light"));
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  draw("light");
});
addEventListener("afterprint", () => draw(darkness.matches ? "dark" : "light"));
"""


def report(
    library: Library,
    run_id: str,
    against: str | None = None,
    *,
    texts: bool = False,
    events: Sequence[Event] = (),
    with_plotly: bool = True,
) -> str:
    """Write the report on a run.

    Args:
        library: Where the run is.
        run_id: The run.
        against: A run to compare with: the report shows this run less that one. None for none.
        texts: Show conversations, replies, criteria and explanations of the lowest examples and worst penalties. By
            default the file holds no text of the benchmark, of models or of graders beside names.
        events: Reviews of the run, for its score with them; nobody is named.
        with_plotly: False leaves the chart library out (5 MB), for tests; the charts then stay empty.

    Returns:
        The HTML text.

    Raises:
        InputRefusedError: The two runs cannot be compared.
        StoreError: A run is not in the store.
    """
    figures = run_figures(library, run_id)
    scores = library.run_scores(run_id)
    sections = run_sections(library, figures, scores, bootstrap(scores))
    if events:
        found = reviewed_run(library, run_id, scores, human_verdicts(events))
        sections.insert(1, reviewed_section(found, figures.summary))
    if against is not None:
        first, second = side(library, against), side(library, run_id)
        compared = compare(first, second)
        sections.insert(1, comparison_section(compared, flips(library, compared, first)))
    if texts:
        sections.append(texts_section(library, run_id))
    canary = canary_of_run(library, run_id) if texts else ""
    return _rendered(figures.summary, facts(library, figures), sections, canary, with_plotly)


def save_report(html: str, path: Path) -> None:
    """Write a report to a file, whole or not at all.

    Raises:
        InputRefusedError: The place is a folder, or cannot be written to.
    """
    if path.is_dir():
        raise InputRefusedError(f"{path} is a folder: give the name of a file in it with --out.")
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.write_text(html, encoding="utf-8", newline="\n")
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise InputRefusedError(
            f"{path} cannot be written ({error.strerror or 'unknown fault'}): choose another place with --out."
        ) from error


def suggested_name(summary: RunSummary) -> str:
    """Return a file name for the report on a run."""
    name = re.sub(r"[^\w.\-]+", "-", summary.name)[:_LONGEST_NAME]
    return f"healthbench-report-{name}-{summary.id[:8]}.html"


def _rendered(
    summary: RunSummary, about: Facts, sections: list[Section], canary: str, with_plotly: bool
) -> str:
    charts = {
        chart.id: {"light": _plain(chart.light), "dark": _plain(chart.dark)}
        for section in sections
        for chart in section.charts
    }
    scripts = [get_plotlyjs() if with_plotly else "const Plotly = {react() {}};", _BOOT]
    template = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(
        (package_files("healthbench.report") / "template.html.j2").read_text(encoding="utf-8")
    )
    return template.render(
        run=summary,
        about=about,
        sections=sections,
        canary=canary,
        light=LIGHT,
        dark=DARK,
        policy=_policy(scripts),
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - the chart library and our own lines, nothing foreign
        figures=charts,
        version=metadata.version("healthbench"),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _plain(figure: Any) -> Any:
    """Return a figure as JSON values; arrays stay packed, as the chart library reads them."""
    return json.loads(figure.to_json())


def _policy(scripts: list[str]) -> str:
    hashes = (
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    )
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
