"""Small parts of the page Grade: the band of a score, and a price table that a person changed."""

import math
from dataclasses import replace

import pytest

from healthbench.charts.band import band
from healthbench.charts.theme import LIGHT
from healthbench.errors import GradingError
from healthbench.grading.cost import Price, load_prices, save_prices
from healthbench.scoring.example import Bounds


def test_the_band_lies_inside_what_was_possible_and_shrinks_to_a_visible_point():
    whole, part = band(Bounds(-0.6, 1.0), Bounds(-0.2, 0.5), LIGHT).data
    assert (whole.base[0], whole.x[0]) == (-0.6, 1.6)
    assert (part.base[0], part.x[0]) == pytest.approx((-0.2, 0.7))
    _, point = band(Bounds(-0.6, 1.0), Bounds(0.4, 0.4), LIGHT).data
    assert point.base[0] < 0.4 < point.base[0] + point.x[0]
    assert point.marker.color == LIGHT.earned
    _, below = band(Bounds(-0.6, 1.0), Bounds(-0.1, -0.1), LIGHT).data
    assert below.marker.color == LIGHT.incurred


def test_a_changed_price_table_is_read_back(tmp_path):
    path = tmp_path / "home" / "prices.json"
    table = replace(
        load_prices(), models={"llama": Price(0.0, 0.0, 0.1)}, as_of="2026-01-02", source="Mine."
    )
    save_prices(path, table)
    assert load_prices(path) == table


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("", Price(1, 1, 1)),
        ("a", Price(-1, 1, 1)),
        ("a", Price(1, math.nan, 1)),
        ("a", Price(1, 1, math.inf)),
    ],
)
def test_prices_that_are_none_are_refused(tmp_path, name, price):
    table = replace(load_prices(), models={name: price})
    with pytest.raises(GradingError, match="cannot be kept"):
        save_prices(tmp_path / "prices.json", table)
    assert not (tmp_path / "prices.json").exists()
