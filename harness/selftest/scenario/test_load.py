"""Scenario files: expansion, and all mistakes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ScenarioError, UsageError
from harness.scenario import catalog
from harness.scenario.load import expand

GOOD = r"""
title = "A scenario"
profiles = ["hosted-workspace-shell/1"]
paths = ["local"]
[matrix.shape]
high = '\ud83d'
low = '\ude00'
[[act]]
prompt = "main"
[[act.step]]
call = [{ id = "c1", arguments = '{"command": "<<shape>>"}', expect = "refused", names = "command" }]
[[act.step]]
text = "done"
"""

THREE_MISTAKES = r"""
title = "A scenario"
colour = "red"
[[act]]
prompt = "main"
[[act.step]]
call = [{ id = "c1", arguments = '<<nothing>>', expect = "maybe" }]
"""


def write(root: Path, name: str, text: str) -> Path:
    path = root / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_matrix_becomes_cases_with_raw_argument_text(tmp_path: Path) -> None:
    write(tmp_path, "unicode/one", GOOD)
    high, low = catalog.load(tmp_path)
    assert (high.id, low.id) == ("unicode/one/high@local-shell1", "unicode/one/low@local-shell1")
    assert next(high.calls())[1].argument_text() == r'{"command": "\ud83d"}'


def test_all_mistakes_of_all_files_come_at_once(tmp_path: Path) -> None:
    write(tmp_path, "one", THREE_MISTAKES)
    write(tmp_path, "two", "title = ")
    with pytest.raises(ScenarioError) as caught:
        catalog.load(tmp_path)
    text = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 4
    assert all(
        word in text for word in ("one.toml: colour", "one.toml: <<nothing>>", "one.toml: act.0.step.0.call.0.expect", "two.toml")
    )


def test_a_call_id_is_used_once_in_a_session() -> None:
    step = {"call": [{"id": "c1", "arguments": "{}", "expect": "executed"}]}
    with pytest.raises(ScenarioError, match="used twice"):
        expand("x", {"title": "t", "act": [{"prompt": "main", "step": [step, step]}]}, shown="x.toml")


def test_a_must_fail_file_takes_over_the_cases_it_names(tmp_path: Path) -> None:
    write(tmp_path, "unicode/one", GOOD)
    mutant = 'title = "t"\nsame_as = "unicode/one"\nmutant = "m"\ncheck = "c"\nfinding = "f"\nstuck_after_s = 1.0\n'
    write(tmp_path, "must_fail/one", mutant)
    cases = catalog.select(catalog.load(tmp_path), ["must_fail"])
    assert [case.id for case in cases] == ["must_fail/one/high@local-shell1", "must_fail/one/low@local-shell1"]
    assert all(case.must_fail and case.must_fail.check == "c" for case in cases)


def test_a_selection_is_a_union_and_an_empty_match_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, "unicode/one", GOOD)
    cases = catalog.load(tmp_path)
    assert len(catalog.select(cases, ["unicode/one/high", "*low*"])) == 2
    with pytest.raises(UsageError, match="nowhere"):
        catalog.select(cases, ["nowhere", "unicode"])


def test_wire_deltas_join_to_whole_pairs() -> None:
    call = {"id": "c1", "wire_deltas": [r"{\"command\": \"\ud83e", r"\udd8a\"}"], "expect": "executed"}
    raw = {"title": "t", "act": [{"prompt": "main", "step": [{"call": [call]}]}]}
    case = expand("x", raw, shown="x.toml")[0]
    assert next(case.calls())[1].argument_text() == '{"command": "🦊"}'


def test_an_unknown_end_needs_a_session_that_cannot_be_loaded(tmp_path: Path) -> None:
    write(tmp_path, "one", GOOD.replace('prompt = "main"\n', 'prompt = "main"\nends = "unknown"\n'))
    with pytest.raises(ScenarioError, match='ends = "unknown" needs wait = false, and load_refused'):
        catalog.load(tmp_path)
