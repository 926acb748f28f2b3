"""Charts: well-formed, everything inside the frame, text escaped."""

from xml.etree import ElementTree

import pytest

from benchmarks.scoring.charts import precision_chart, reliability_chart, risk_chart
from benchmarks.scoring.svg_plot import svg
from evimem.calibration.calibration_report import Bin, Point, reliability, risk_coverage

SURE = [0.95, 0.9, 0.7, 0.6, 0.2]
LABELS = [True, True, False, True, False]
NAMESPACE = "{http://www.w3.org/2000/svg}"
CHARTS = [
    reliability_chart("Reliability <&>", reliability(SURE, LABELS), "ECE 0.1"),
    risk_chart("Risk", [("one", risk_coverage(SURE, LABELS)), ("other", risk_coverage(SURE, LABELS))], "AURC", 0.4),
    precision_chart("Precision", risk_coverage(SURE, LABELS), "AUROC", Point(0.9, 0.4, 0.05)),
    precision_chart("Precision", risk_coverage(SURE, LABELS), "AUROC", None),
]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.title)
def test_a_chart_is_svg_that_stays_inside_its_frame(chart):
    root = ElementTree.fromstring(svg(chart))
    wide, high = float(root.attrib["width"]), float(root.attrib["height"])
    assert chart.title in [text.text for text in root.iter(f"{NAMESPACE}text")]
    for line in root.iter(f"{NAMESPACE}polyline"):
        for pair in line.attrib["points"].split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= wide
            assert 0 <= y <= high


def test_a_point_stands_where_its_values_say():
    root = ElementTree.fromstring(svg(reliability_chart("", [Bin(0.0, 1.0, 1), Bin(1.0, 0.0, 1)], "")))
    left, right = root.findall(f"{NAMESPACE}circle")
    assert float(left.attrib["cx"]) < float(right.attrib["cx"])
    assert float(left.attrib["cy"]) < float(right.attrib["cy"])  # up is less


def test_the_scale_of_risk_ends_above_the_highest():
    assert CHARTS[1].height == (0.0, 0.5)
    assert risk_chart("", [], "", 0.05).height == (0.0, 0.1)


def test_the_scale_of_precision_begins_below_the_lowest():
    low, high = CHARTS[2].height
    assert (low, high) == (0.5, 1.0)
    assert [line.name for line in CHARTS[3].lines] == ["precision of the surest"]
