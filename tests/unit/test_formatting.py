"""The one place for number formats: every format with its edges."""

# ruff: noqa: RUF001 - real minus signs and dashes are what is tested here

from __future__ import annotations

import math

import pytest

from healthbench import formatting

NAN = math.nan


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        ("score", (0.5104,), "51.0"),
        ("score", (1.0,), "100.0"),
        ("score", (-0.3,), "−30.0"),
        ("score", (-8.67,), "−867.0"),
        ("score", (-0.0,), "0.0"),
        ("score", (-0.0001,), "0.0"),
        ("score", (None,), "–"),
        ("score", (NAN,), "–"),
        ("difference", (0.0321,), "+3.2"),
        ("difference", (-0.0321,), "−3.2"),
        ("difference", (0.0001,), "0.0"),
        ("difference", (None,), "–"),
        ("fraction", (0.51041,), "0.5104"),
        ("fraction", (-0.3, 2), "−0.30"),
        ("fraction", (NAN,), "–"),
        ("percent", (0.249,), "24.9 %"),
        ("percent", (0.0,), "0.0 %"),
        ("percent", (None,), "–"),
        ("points", (7,), "+7"),
        ("points", (-6.0,), "−6"),
        ("points", (2.5,), "+2.5"),
        ("points", (0,), "0"),
        ("points", (None,), "–"),
        ("points", (100,), "+100"),
        ("plain_points", (22.0,), "22"),
        ("plain_points", (-14,), "−14"),
        ("plain_points", (1234.5,), "1,234.5"),
        ("count", (57237,), "57,237"),
        ("count", (0,), "0"),
        ("count", (None,), "–"),
        ("count", (math.inf,), "∞"),
        ("characters", (3616.2,), "3,616 characters"),
        ("characters", (1,), "1 character"),
        ("characters", (None,), "–"),
        ("interval", (0.58, 0.712), "[58.0, 71.2]"),
        ("interval", (-0.02, 0.03), "[−2.0, 3.0]"),
        ("interval", (None, 0.03), "–"),
        ("interval", (0.1, NAN), "–"),
        ("difference_interval", (-0.02, 0.03), "[−2.0, +3.0]"),
        ("difference_interval", (None, None), "–"),
        ("move", (0.533,), "53.3"),
        ("move", (0.0072,), "0.72"),
        ("move", (0.00026,), "0.026"),
        ("move", (-0.0000208,), "−0.0021"),
        ("move", (0.0,), "0.0"),
        ("move", (None,), "–"),
        ("move", (NAN,), "–"),
        ("sample_size", (1097,), "n = 1,097"),
        ("sample_size", (20,), "n = 20"),
        ("sample_size", (19,), "n = 19 (few)"),
        ("sample_size", (None,), "–"),
        ("graded", (498, 5000), "498 of 5,000 examples fully graded"),
        ("graded", (1, 1), "1 of 1 example fully graded"),
        ("p_value", (0.0321,), "p = 0.032"),
        ("p_value", (0.0009,), "p < 0.001"),
        ("p_value", (1.0,), "p = 1.000"),
        ("p_value", (None,), "–"),
        ("equation", ([7, 10, -6], 22, 0.5), "(+7 +10 −6) / 22 = 0.50"),
        ("equation", ([], 22, 0.0), "(0) / 22 = 0.00"),
        ("equation", ([-5], 0, None), "(−5) / 0 = –"),
    ],
)
def test_number_is_written_as_promised(function, arguments, text):
    assert getattr(formatting, function)(*arguments) == text
