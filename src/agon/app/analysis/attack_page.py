"""Draw what attacks cost, gain and harm: charts, and one page with all of them and their data."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from agon.app.analysis.attack import AttackReport
from agon.app.charts import BarGroup, RocCurve, RocPanel, bar_chart, roc_chart
from agon.app.charts.markup import element, words
from agon.app.charts.standalone_page import standalone_page
from agon.attacks.detectors import PowerMeasurement
from agon.attacks.results import AttackResult
from agon.kernel.text.text_tables import Columns, html_table


def price_chart(report: AttackReport, *, is_part: bool = False) -> str:
    """Return the price of each attack under each edition as SVG."""

    def price(result: AttackResult) -> tuple[float | None, str]:
        money = result.effort.money(report.prices)
        return (money, f"${money:,.2f}") if result.reached else (None, "not reached")

    return bar_chart(
        _groups(report, price),
        series=_names(report),
        name="prices",
        title=f"{report.discipline}: price of each attack",
        subtitle=f"US dollars of the cheapest plan that reaches the goal · {_world(report)}",
        is_part=is_part,
    )


def harm_chart(report: AttackReport, *, is_part: bool = False) -> str:
    """Return how many honest participants each attack moves under each edition as SVG."""

    def harm(result: AttackResult) -> tuple[float | None, str]:
        moved, worst = result.harm.honest_moved, result.harm.worst_fall
        return float(moved), f"{moved:,}, worst −{worst:,}" if worst else f"{moved:,}"

    return bar_chart(
        _groups(report, harm),
        series=_names(report),
        name="harm",
        title=f"{report.discipline}: who is harmed",
        subtitle="honest participants whose rank changes, and the most ranks that one of them "
        f"loses · {_world(report)}",
        is_part=is_part,
    )


def detector_chart(
    discipline_name: str, rows: Sequence[PowerMeasurement], *, worlds: int, is_part: bool = False
) -> str:
    """Return power over false alarms of the findings of a discipline as SVG."""
    return roc_chart(
        list(_panels(rows)),
        name="detectors",
        title=f"{discipline_name}: power of findings over false alarms",
        subtitle="next to a point: actions of an attacker; a line has the thresholds of one check "
        f"· {worlds} simulated contests a row",
        is_part=is_part,
    )


def page(report: AttackReport, detectors: Sequence[PowerMeasurement], *, worlds: int) -> str:
    """Return a report as one HTML page that needs no other file and no network.

    Args:
        report: the results of attacks.
        detectors: what the discipline's findings find; empty: nobody has measured that.
        worlds: contests per row of ``detectors``.
    """
    title = f"Attacks on the rules of the {report.discipline}"
    found = [
        detector_chart(report.discipline, detectors, worlds=worlds, is_part=True),
        _data(_detector_columns(detectors), "findings"),
    ]
    of_editions = [
        _data(_result_columns(attacked.results, report), attacked.edition.full_name)
        for attacked in report.editions
    ]
    sections = [
        ("What a rank costs", [price_chart(report, is_part=True), *of_editions]),
        ("What a search finds", list(_search_tables(report))),
        ("Without one guard", list(_guard_tables(report))),
        ("What the findings find", found if detectors else []),
        ("Who is harmed", [harm_chart(report, is_part=True), *_harm_tables(report)]),
        ("Prices", [_data(_price_columns(report), "prices of what attackers use")]),
    ]
    intro = element("p", [words(f"Editions: {', '.join(_names(report))} · {_world(report)}")])
    return standalone_page(title, intro, sections)


def _groups(
    report: AttackReport, value: Callable[[AttackResult], tuple[float | None, str]]
) -> list[BarGroup]:
    """Return a group of bars for each attack, with a bar for each edition."""
    groups = []
    for results in zip(*(attacked.results for attacked in report.editions), strict=True):
        values, texts = zip(*map(value, results), strict=True)
        groups.append(BarGroup(results[0].name, values, texts))
    return groups


def _names(report: AttackReport) -> list[str]:
    return [attacked.edition.full_name for attacked in report.editions]


def _world(report: AttackReport) -> str:
    if report.records_sha256 is not None:
        return f"records {report.records_sha256[:12]}, seed {report.seed}"
    return f"simulated, size {report.size:,}, seed {report.seed}"


def _panels(rows: Sequence[PowerMeasurement]) -> Iterator[RocPanel]:
    """Yield a panel for each finding and attack, with a curve for each number of actions."""
    known = [row for row in rows if row.power is not None]
    for (finding, attack), of_panel in groupby(known, lambda row: (row.finding, row.attack)):
        curves = [
            RocCurve(
                "" if actions is None else f"{actions:,.0f}",
                [(row.false_alarms, row.power or 0.0) for row in points],
            )
            for actions, points in groupby(of_panel, lambda row: row.actions)
        ]
        yield RocPanel(finding, attack, curves)


def _data(columns: Columns, caption: str) -> str:
    return f'<div class="data">{html_table(columns, caption)}</div>'


def _result_columns(results: Sequence[AttackResult], report: AttackReport) -> Columns:
    costs = [result.effort.to_dict(report.prices) for result in results]
    return [
        ("attack", [result.name for result in results]),
        ("goal", [result.goal for result in results]),
        ("reached", ["yes" if result.reached else "no" for result in results]),
        ("$", [f"{cost['money']:,.2f}" for cost in costs]),
        *(
            (part, [f"{cost[part]:,}" for cost in costs])
            for part in ("accounts", "actions", "stake", "days")
        ),
        ("ranks won", [f"{result.gain.ranks:+,}" for result in results]),
        ("points", [f"{result.gain.points:+,.6g}" for result in results]),
        ("share won", [result.gain.percent for result in results]),
        ("found by", [_detections(result) for result in results]),
    ]


def _detections(result: AttackResult) -> str:
    return (
        ", ".join(f"{each.finding} ({each.after_actions:,} actions)" for each in result.detected)
        or "nothing"
    )


def _search_tables(report: AttackReport) -> Iterator[str]:
    for attacked in report.editions:
        rows = list(report.cheapest(attacked))
        columns = [
            ("goal", [goal for goal, _, _ in rows]),
            ("attack", [result.name for _, result, _ in rows]),
            ("plan", [plan_text(result) for _, result, _ in rows]),
            ("$", [f"{result.effort.money(report.prices):,.2f}" for _, result, _ in rows]),
            ("of catalog", [ratio_text(ratio) for _, _, ratio in rows]),
        ]
        if attacked.searches:
            yield _data(columns, f"cheapest plans under {attacked.edition.full_name}")


def _guard_tables(report: AttackReport) -> Iterator[str]:
    for attacked in report.editions:
        columns = [
            ("guard", [", ".join(guard.rules) for guard in attacked.guards]),
            (
                "attacks it spoils",
                [
                    ", ".join(guard.effect_texts(report.prices)) or "none"
                    for guard in attacked.guards
                ],
            ),
            ("honest ranks with and without", [f"{g.correlation:.4f}" for g in attacked.guards]),
        ]
        if attacked.guards:
            yield _data(columns, f"guards of {attacked.edition.full_name}")


def plan_text(result: AttackResult) -> str:
    """Return the parameters of a plan as text."""
    return ", ".join(f"{name} {value:g}" for name, value in result.plan.items())


def ratio_text(ratio: float | None) -> str:
    """Return a price by that of the catalog as text; None: none of the catalog has one."""
    return "not reached" if ratio is None else f"{ratio:.0%}"


def _harm_tables(report: AttackReport) -> Iterator[str]:
    for attacked in report.editions:
        harms = [result.harm for result in attacked.results]
        columns = [
            ("attack", [result.name for result in attacked.results]),
            ("honest moved", [f"{harm.honest_moved:,}" for harm in harms]),
            ("worst fall", [f"{harm.worst_fall:,}" for harm in harms]),
            ("honest accused", [f"{harm.honest_accused:,}" for harm in harms]),
            *(
                (f"{boards[0].board}: moved after undo", [f"{each.moved:,}" for each in boards])
                for boards in zip(*attacked.undone, strict=True)
            ),
        ]
        yield _data(columns, f"harm under {attacked.edition.full_name}")


def _detector_columns(rows: Sequence[PowerMeasurement]) -> Columns:
    numbers = ("actions", "exposures", "threshold", "power", "false_alarms", "literal_power")
    return [
        ("finding", [row.finding for row in rows]),
        ("attack", [row.attack for row in rows]),
        *(
            (name.replace("_", " "), [_number(getattr(row, name)) for row in rows])
            for name in numbers
        ),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.4g}"


def _price_columns(report: AttackReport) -> Columns:
    prices = report.prices
    return [
        ("name", list(prices)),
        ("$", [f"{price.amount:,g}" for price in prices.values()]),
        ("per", [price.per for price in prices.values()]),
        ("source", [price.source for price in prices.values()]),
    ]
