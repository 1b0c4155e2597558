"""Writes a report: report.json, report.md, junit.xml. Everything a system under test may have influenced is escaped."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import jinja2
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from harness.mutation.score import Mutation
from harness.report.elements import elements
from harness.report.facts import Report, build
from harness.run.result import CaseResult
from harness.settings import subject_root
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
    if report.mutation.mutants:
        told = json.dumps(elements(report.mutation, subject_root()), indent=1, ensure_ascii=True)
        (folder / "mutation.json").write_text(told + "\n", encoding="ascii")
    return report


def markdown(report: Report) -> str:
    """The report for people; also fit for a pull request."""
    template = files("harness.report").joinpath("report.md.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 -- Markdown, escaped by the filter
    environment.filters["text"] = markdown_text
    areas: dict[str, list[CaseResult]] = {}
    for result in report.cases:
        areas.setdefault(result.area, []).append(result)
    tables = {"comparisons": comparisons, "matrix": matrix, "silences": silences}
    return environment.from_string(template).render(report=report, areas=areas, Verdict=Verdict, **tables) + "\n"


def matrix(mutation: Mutation) -> list[tuple[str, list[str], list[str]]]:
    """(check, mutants that name it and turn it red, other mutants that turn it red) for every check that is red anywhere."""
    checks = dict.fromkeys(check for trial in mutation.mutants for check in trial.killed_by)
    red = {check: [trial for trial in mutation.mutants if check in trial.killed_by] for check in sorted(checks)}
    return [
        (check, [one.id for one in found if one.check == check], [one.id for one in found if one.check != check])
        for check, found in red.items()
    ]


def comparisons(results: Sequence[CaseResult]) -> list[tuple[CaseResult, CaseResult]]:
    """(on the mutant, on the real arm) of the incident's cases that ran on both."""
    real = {result.id: result for result in results}
    return [(one, real[one.same_as]) for one in results if one.same_as in real and real[one.same_as].area == INCIDENT]


def silences(results: Sequence[CaseResult]) -> list[tuple[int, list[CaseResult], list[CaseResult]]]:
    """(finding of the audit of silent arguments, its cases on a mutant, its cases on the real arm)."""
    numbers = sorted({finding for result in results for finding in result.findings})
    own = {number: [result for result in results if number in result.findings] for number in numbers}
    return [
        (number, [one for one in found if one.mutant], [one for one in found if not one.mutant]) for number, found in own.items()
    ]


def junit(report: Report) -> JUnitXml:
    """JUnit: unknown is an error, a failure is a failure, what did not run is skipped."""
    suite = TestSuite("loudgate")
    for trial in report.mutation.mutants:
        tried = TestCase(trial.id, classname="mutant", time=trial.cost_s)
        if trial.outcome in ("survived", "wrong_killer"):
            tried.result = [Failure(plain(trial.finding), trial.outcome)]
        elif trial.outcome != "killed":
            tried.result = [Error(plain(trial.finding), trial.outcome)]
        suite.add_testcase(tried)
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
