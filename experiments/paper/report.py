"""Everything on one page: for each figure ours, what the paper says of it, and whether it agrees."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.paper import (
    accuracy_and_speed,
    appendix_a,
    data_sets,
    differences,
    drawing,
    figure1,
    sensitivity,
    shift,
    tables,
)
from experiments.paper.document import Block, Heading, Paragraph, Picture, Quotation, Table, markdown, page
from experiments.paper.findings import Finding, Verdict
from experiments.paper.headline import headlines
from experiments.paper.settings import DEFAULT, FULL, PAPER, PROBLEMS, PUBLISHED_LIMIT, VARIED, VERSIONS, Settings

TABLES = (accuracy_and_speed.TABLE, data_sets.TABLE, shift.TABLE, sensitivity.TABLE, appendix_a.TABLE)
MISSING = Paragraph("Not measured yet.")
Tables = dict[str, pd.DataFrame]


def write(results: Path, folder: Path) -> None:
    """Draw all figures and write README.md and report.html, from the tables alone."""
    found = {name: tables.read(results, name) for name in TABLES}
    origin = tables.read_origin(results)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = figures(found, VERSIONS[origin.get("settings", "full")])
    for name, figure in drawn.items():
        drawing.save(figure, folder / f"{name}.png")
    blocks = compose(found, origin, set(drawn))
    (folder / "README.md").write_text(markdown(blocks), encoding="utf-8")
    (folder / "report.html").write_text(page(blocks, folder), encoding="utf-8")


def figures(found: Tables, settings: Settings) -> dict[str, Figure]:
    """All that can be drawn, by name."""
    return {
        "figure1": figure1.draw(settings.shift_rows),
        **accuracy_and_speed.draw(found[accuracy_and_speed.TABLE]),
        **shift.draw(found[shift.TABLE]),
        **sensitivity.draw(found[sensitivity.TABLE]),
        **appendix_a.draw(found[appendix_a.TABLE]),
    }


def all_findings(found: Tables) -> list[Finding]:
    """Every claim that is checked."""
    accuracy, varied = found[accuracy_and_speed.TABLE], found[sensitivity.TABLE]
    return [
        *(finding for problem in PROBLEMS for finding in accuracy_and_speed.findings(accuracy, problem)),
        *shift.findings(found[shift.TABLE]),
        *(finding for parameter in VARIED for finding in sensitivity.findings(varied, parameter)),
        *appendix_a.findings(found[appendix_a.TABLE], appendix_a.PUBLISHED),
    ]


def compose(found: Tables, origin: dict[str, Any], drawn: set[str]) -> list[Block]:
    """The whole document."""
    return [
        Heading(1, "The paper, reproduced"),
        Paragraph(
            "S. A. Cameron, H. C. Eggers, S. Kroon, Entropy 21 (2019) 1109: every figure and number of its sections 6 "
            "and 7 and its appendices A and C, beside ours. Written by `make paper` from the tables in "
            '`experiments/paper/results`; no number and no verdict on this page is typed in. "As published" is '
            '`sgais.Config.paper()`, Algorithm 1 with the parameters of section 6.1; "default" is `sgais.Config()`.'
        ),
        *_origin(origin),
        *_count(all_findings(found)),
        Heading(2, "Headline numbers"),
        *_headlines(found),
        Heading(2, "Where we differ and why"),
        *_differences(found, origin.get("limit", FULL.limit)),
        *_figure1(drawn),
        *_accuracy(found[accuracy_and_speed.TABLE], drawn),
        *_shift(found[shift.TABLE], drawn),
        *_sensitivity(found[sensitivity.TABLE], drawn),
        *_appendix(found[appendix_a.TABLE], drawn),
    ]


def _origin(origin: dict[str, Any]) -> list[Block]:
    if not origin:
        return [Paragraph("**Only what is shown below has been measured so far.**")]
    versions = "; ".join(f"{name} {', '.join(values)}" for name, values in origin["versions"].items())
    is_full = origin["settings"] == "full"
    caution = "" if is_full else " **This is not the version of the paper**: `make paper FULL=1` is."
    return [
        Paragraph(
            f"Version: {origin['settings']}, {origin['runs']} runs so far. Times are those of runs that were "
            f"single-threaded and alone on the machine, compilation not counted.{caution} "
            f"Made with {versions}."
        )
    ]


def _count(found: Sequence[Finding]) -> list[Block]:
    counts = {verdict: sum(finding.verdict == verdict for finding in found) for verdict in Verdict}
    words = ", ".join(f"{verdict}: {count}" for verdict, count in counts.items())
    differing = [finding.claim for finding in found if finding.verdict == Verdict.DIFFERS]
    listed = f" What differs: {'; '.join(differing)}." if differing else ""
    return [Paragraph(f"{len(found)} claims are checked below. {words[0].upper()}{words[1:]}.{listed}")]


def _headlines(found: Tables) -> list[Block]:
    lines = [
        [each.name, each.published, each.as_published, each.default, str(each.seeds), each.asked, each.verdict.value]
        for each in headlines(found[accuracy_and_speed.TABLE], found[sensitivity.TABLE])
    ]
    header = ("", "paper", "ours, as published", "ours, default", "seeds", "asked", "verdict")
    return [
        Table(header, lines),
        Paragraph(
            "Errors are over log Z, median and range over the seeds, against the exact evidence (linear regression) or "
            "Laplace's with importance sampling, good to 0.1 nat; in nats the median. Speed-ups are ratios of median "
            "run times (of the seeds that were timed), with the range over the runs of NS where several were timed; "
            "always over NS and AIS with the published settings. "
            '"At least": NS or AIS was stopped, and would have taken longer; or it was not begun, and the time is that '
            "of fewer rows, in proportion to the rows. Where NS got stuck, the time is that until then. "
            "The published numbers are those of a million rows; ours are judged only there."
        ),
    ]


def _differences(found: Tables, limit: float) -> list[Block]:
    table, varied = found[accuracy_and_speed.TABLE], found[sensitivity.TABLE]
    return [
        Heading(3, "An error in proportion to N"),
        Paragraph(
            "The noise of mini-batch gradients heats the particles of the published algorithm: their covariance is too "
            "large by a factor that grows with N, and every chunk's log predictive is too low by the same amount. The "
            "default takes its gradients relative to an anchor, exact to second order, and reports what excess "
            "temperature is left as `kernel_bias` (docs/accuracy.md)."
        ),
        *map(Paragraph, differences.bias(table)),
        Heading(3, "Resampling"),
        Paragraph(
            "Algorithm 1 carries its weights from the first chunk to the last, and they become ever more uneven. The "
            "default resamples whenever the weights have become uneven, and takes its error bar from islands."
        ),
        *map(Paragraph, differences.resampling(table)),
        Heading(3, "Moves only when they pay"),
        Paragraph(
            "The published algorithm moves its particles after every weighing. The default lets surrogates of the "
            "posterior take in chunks, and moves only when the weights ask for it."
        ),
        *map(Paragraph, differences.moves(table)),
        Heading(3, "Modes that ten particles miss"),
        Paragraph(
            "The paper finds that its particles leave poor local modes of the mixture early on. Here some runs do and "
            "some do not, and it is the data that decide how many; the paper's are not published."
        ),
        *map(Paragraph, differences.choice(found[data_sets.TABLE])),
        *_data_sets(found[data_sets.TABLE]),
        *map(Paragraph, differences.modes(table)),
        Heading(3, "Where nested sampling ends"),
        Paragraph(
            "A step of the published nested sampler is as long as the root of its learning rate, 0.03, however narrow "
            "the posterior has become. In the end no step stays inside the contour, and the two live points are copies "
            "of one that cannot move. From there on the terms of the sum only shrink, so that the published rule, "
            "terms below 1 % of Z, is met without the posterior having been reached. We end there, too, and say so; "
            "the iterations in which the terms then shrink to 1 % are not in our times."
        ),
        *map(Paragraph, differences.nested_ends(table)),
        Heading(3, "A learning rate of 1.0"),
        *map(Paragraph, differences.learning_rate_of_one(table, varied)),
        Heading(3, "When a run is stopped"),
        Paragraph(
            f"The paper runs AIS only where it takes less than {PUBLISHED_LIMIT:g} s. Here AIS and NS are stopped "
            f"after {limit:g} s, and not begun where the same run on fewer rows, in proportion to the rows, would have "
            "taken longer; speed-ups over them are then lower bounds."
        ),
        *map(Paragraph, differences.stopping(table, limit)),
    ]


def _data_sets(table: pd.DataFrame) -> list[Block]:
    lines = [
        [str(data_set), *(f"{row[name]:.2%}" for name in ("median", "min", "max"))]
        for data_set, row in data_sets.summary(table).iterrows()
    ]
    return [Table(("data set", "median error", "least", "largest"), lines)] if lines else []


def _figure1(drawn: set[str]) -> list[Block]:
    return [
        Heading(2, "Figure 1: data whose distribution shifts"),
        Quotation(figure1.CLAIM),
        *_picture("figure1", "Histograms of the three phases and of all rows", drawn),
        Paragraph("The data are simulated as the paper says; its own means and variances are not published."),
    ]


def _accuracy(table: pd.DataFrame, drawn: set[str]) -> list[Block]:
    blocks: list[Block] = []
    for number, problem in enumerate(PROBLEMS, start=2):
        name = accuracy_and_speed.TITLES[problem]
        blocks += [
            Heading(2, f"Figure {number}: {name.lower()}"),
            Quotation(accuracy_and_speed.CLAIMS[problem]),
            *_picture(accuracy_and_speed.FIGURES[problem], f"{name}: log Z per row, run time, relative error", drawn),
            Paragraph("(c) is ours. A ring is a run that was stopped, or that got stuck as told above."),
            _verdicts(accuracy_and_speed.findings(table, problem)),
        ]
    return blocks


def _shift(table: pd.DataFrame, drawn: set[str]) -> list[Block]:
    blocks = [
        Heading(2, "Figure 5: distribution shift"),
        Quotation(shift.CLAIM),
        *_picture(shift.FIGURES[PAPER], "Log Z per row and annealing steps under distribution shift", drawn),
        _verdicts(shift.findings(table)),
    ]
    name = shift.FIGURES[DEFAULT]
    return [*blocks, *(_picture(name, "The same by default", drawn) if name in drawn else [])]


def _sensitivity(table: pd.DataFrame, drawn: set[str]) -> list[Block]:
    blocks: list[Block] = []
    for parameter in VARIED:
        name, title = sensitivity.FIGURES[parameter], sensitivity.TITLES[parameter]
        place = f"Figure {name[-1]} and appendix C" if name.startswith("figure") else "Appendix C"
        blocks += [
            Heading(2, f"{place}: {title[0].lower()}{title[1:]}"),
            Quotation(sensitivity.CLAIMS[parameter]),
            *_picture(name, f"{title}: log Z per row, run time, annealing steps per chunk", drawn),
            _verdicts(sensitivity.findings(table, parameter)),
        ]
    return blocks


def _appendix(table: pd.DataFrame, drawn: set[str]) -> list[Block]:
    blocks: list[Block] = [
        Heading(2, "Appendix A: nested sampling against annealed importance sampling"),
        Quotation(appendix_a.CLAIM),
    ]
    for kind, name in appendix_a.FIGURES.items():
        if name in drawn or kind == appendix_a.PUBLISHED:
            numbers = appendix_a.numbers(table, kind)
            blocks += [
                *_picture(name, f"NS and AIS, {kind} settings", drawn),
                *([Table((f"{kind} settings", ""), numbers)] if numbers else []),
                Paragraph(appendix_a.REMARKS[kind]),
                _verdicts(appendix_a.findings(table, kind)),
            ]
    return blocks


def _picture(name: str, caption: str, drawn: set[str]) -> list[Block]:
    return [Picture(f"{name}.png", caption)] if name in drawn else [MISSING]


def _verdicts(found: Sequence[Finding]) -> Table:
    lines = [[finding.claim, f"**{finding.verdict.value}**", finding.measured] for finding in found]
    return Table(("the paper says", "verdict", "measured"), lines)
