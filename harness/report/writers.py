"""Writes a report: report.json, report.md, junit.xml. Everything a system under test may have influenced is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import jinja2
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from harness.report.facts import Report, build
from harness.run.result import CaseResult
from harness.verdict import Verdict

INCIDENT = "incident"
"""Area of the cases that are shown side by side with their must-fail twins."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """Text without what XML forbids and terminals obey: such characters become escapes."""
    return _CONTROLS.sub(lambda hit: " " if hit[0] in "\n\t" else f"\\x{ord(hit[0]):02x}", text)


def markdown_text(text: str) -> str:
    """Text as it may stand in a table of a Markdown file: no markup, no cell or line breaks."""
    return html.escape(plain(text), quote=False).replace("|", "\\|").replace("`", "'").replace("[", "\\[")


def write(folder: Path) -> Report:
    """Rebuild the report of a run and write all formats into its folder."""
    report = build(folder)
    (folder / "report.json").write_text(report.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    (folder / "report.md").write_text(markdown(report), encoding="utf-8")
    junit(report).write(str(folder / "junit.xml"), pretty=True)
    return report


def markdown(report: Report) -> str:
    """The report for people; also fit for a pull request."""
    template = files("harness.report").joinpath("report.md.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 -- Markdown, escaped by the filter
    environment.filters["text"] = markdown_text
    areas: dict[str, list[CaseResult]] = {}
    for result in report.cases:
        areas.setdefault(result.area, []).append(result)
    return environment.from_string(template).render(report=report, areas=areas, Verdict=Verdict, comparisons=comparisons) + "\n"


def comparisons(results: Sequence[CaseResult]) -> list[tuple[CaseResult, CaseResult]]:
    """(on the mutant, on the real arm) of the incident's cases that ran on both."""
    real = {result.id: result for result in results}
    return [(one, real[one.same_as]) for one in results if one.same_as in real and real[one.same_as].area == INCIDENT]


def junit(report: Report) -> JUnitXml:
    """JUnit: unknown is an error, a failure is a failure, what did not run is skipped."""
    suite = TestSuite("loudgate")
    for result in report.cases:
        case = TestCase(result.id, classname=result.area, time=result.duration_s)
        if result.outcome is Verdict.FAIL:
            case.result = [Failure(plain(result.why), "fail")]
        elif result.outcome is not Verdict.PASS:
            case.result = [Error(plain(result.why), str(result.outcome))]
        suite.add_testcase(case)
    for case_id in report.not_run:
        lost = TestCase(case_id, classname="not run")
        lost.result = [Skipped("planned, did not run")]
        suite.add_testcase(lost)
    xml = JUnitXml("loudgate")
    xml.add_testsuite(suite)
    return xml
