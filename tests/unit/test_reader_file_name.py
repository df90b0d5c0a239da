"""Every name simple-evals and its forks give their files."""

from __future__ import annotations

import pytest

from healthbench.readers.file_name import FileName, parse_file_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "healthbench_gpt-4.1_20260501_120000_allresults.json",
            ("HealthBench", "gpt-4.1", "2026-05-01T12:00:00", ()),
        ),
        (
            "healthbench_hard_my_org_model-v2_20260501_120000.html",
            ("HealthBench Hard", "my_org_model-v2", "2026-05-01T12:00:00", ()),
        ),
        (
            "healthbench_consensus_o3_20250709_235959_DEBUG_allresults.json",
            ("HealthBench Consensus", "o3", "2025-07-09T23:59:59", ("DEBUG",)),
        ),
        (
            "healthbench_meta_gpt-4.1_20260501_120000.json",
            ("HealthBench meta-evaluation", "gpt-4.1", "2026-05-01T12:00:00", ()),
        ),
        (
            "healthbench_m_20260501_1200_bodhi_temp0.7_allresults.json",
            ("HealthBench", "m", "2026-05-01T12:00:00", ("bodhi", "temp0.7")),
        ),
        (
            "healthbench_stub-model_20260501_140000_repeats2_allresults.json",
            ("HealthBench", "stub-model", "2026-05-01T14:00:00", ("repeats2",)),
        ),
        (
            "healthbench_model_20240101_20260501_120000_allresults.json.gz",
            ("HealthBench", "model_20240101", "2026-05-01T12:00:00", ()),
        ),
        (
            "healthbench_model_99999999_x_20260501_allresults.json",
            ("HealthBench", "model_99999999_x", "2026-05-01", ()),
        ),
        (
            "healthbench_custom_my_questions_20260501_120000_allresults.json",
            ("my_questions", None, "2026-05-01T12:00:00", ()),
        ),
        (
            "healthbench_custom_20260501_allresults.json",
            (None, None, "2026-05-01", ()),
        ),
        (
            "healthbench_hard_humanbaseline_20250601_1200.json",
            ("HealthBench Hard", "physicians (human baseline)", "2025-06-01T12:00:00", ()),
        ),
        (
            "healthbench_main_referencecompletions_20250601_1200.json",
            ("HealthBench", "reference completions", "2025-06-01T12:00:00", ()),
        ),
        (
            "healthbench_hardy_20260501_120000.json",
            ("HealthBench", "hardy", "2026-05-01T12:00:00", ()),
        ),
        (
            "healthbench_m_20260501_120000_allresults (1).json",
            ("HealthBench", "m", "2026-05-01T12:00:00", ()),
        ),
        ("healthbench_model_allresults.json", ("HealthBench", "model", None, ())),
        ("healthbench_allresults.json", ("HealthBench", None, None, ())),
        ("healthbench.json", ("HealthBench", None, None, ())),
        ("results_org--model.json", (None, "org--model", None, ())),
        ("run7.json", (None, None, None, ())),
        ("healthbenchmark_m_20260501_120000.json", (None, None, None, ())),
        ("", (None, None, None, ())),
    ],
)
def test_names(name, expected):
    assert parse_file_name(name) == FileName(*expected)
