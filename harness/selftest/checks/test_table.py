"""How a ledger is judged, whatever the check: missing witness, crash, doubt, and the bounds of a finding."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from harness.checks import nothing
from harness.checks.check import FINDING_CHARS, Check, Finding
from harness.checks.table import CHECKS, judge, judge_one
from harness.ledger.event import WITNESSES, Driven, Exchange, ModelExchange
from harness.ledger.history import History
from harness.selftest.checks.cases import ALONE, CORRECTED, RELOADED, SECOND
from harness.selftest.checks.change import added, chain, cut, doubted, edited, intrusion, row, values, without
from harness.selftest.checks.perfect import Perfect
from harness.verdict import Verdict

GOOD = Perfect(CORRECTED).play()
PASSING = replace(nothing.CHECK, id="passing", judge=lambda _: Finding(Verdict.PASS, "it holds"))


def test_ids_are_unique_and_titles_are_one_line() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    assert all(check.title and "\n" not in check.title for check in CHECKS)


def test_each_check_is_the_check_of_the_module_of_its_name() -> None:
    assert [f"harness.checks.{check.id}" for check in CHECKS] == [_home(check) for check in CHECKS]


def _home(check: Check) -> str:
    module = import_module(f"harness.checks.{check.id}")
    return str(module.__name__) if module.CHECK is check else ""


def test_nothing_applies_to_no_case_and_knows_nothing() -> None:
    assert not any(nothing.CHECK.applies(case) for case in (ALONE, CORRECTED, SECOND, RELOADED))
    assert judge_one(nothing.CHECK, History(GOOD)).verdict is Verdict.UNKNOWN


def test_only_checks_that_apply_are_judged() -> None:
    judged = {result.id for result in judge(Perfect(ALONE).play())}
    assert judged.isdisjoint({"reload_identical", "second_session_completes", "exactly_one_execution"})
    assert "zero_acquisition" in judged


def test_a_missing_witness_is_not_observed_even_where_the_ledger_would_fail() -> None:
    meta = GOOD.meta.model_copy(update={"witnesses": tuple(w for w in WITNESSES if w != "sql")})
    results = {r.id: r for r in judge(GOOD.model_copy(update={"meta": meta, "events": ()}))}
    for check in (check for check in CHECKS if check.id in results):
        assert (results[check.id].verdict is Verdict.NOT_OBSERVED) == ("sql" in check.needs), check.id


def test_a_crash_is_unknown_and_tells_only_its_type() -> None:
    def crash(_: History) -> Finding:
        raise KeyError("text of a model \ud800")

    result = judge_one(replace(PASSING, judge=crash), History(GOOD))
    assert (result.verdict, result.finding) == (Verdict.UNKNOWN, "the check crashed: KeyError")


def test_a_body_that_is_no_json_makes_no_check_pass_wrongly() -> None:
    garbled = tuple(e.model_copy(update={"heard": b"<html>"}) if e.kind == "model" else e for e in GOOD.events)
    results = {r.id: r.verdict for r in judge(GOOD.model_copy(update={"events": garbled}))}
    assert results["ordered_paired_errors"] is Verdict.UNKNOWN
    assert results["arguments_preserved"] is Verdict.UNKNOWN


def test_a_doubt_forbids_only_claims_of_absence_and_never_softens_a_fail() -> None:
    history = History(doubted("stray traffic")(GOOD))
    claiming = replace(PASSING, claims_absence=True)
    failing = replace(claiming, judge=lambda _: Finding(Verdict.FAIL, "it does not hold"))
    assert judge_one(PASSING, history).verdict is Verdict.PASS
    assert judge_one(claiming, history).verdict is Verdict.UNKNOWN
    assert judge_one(failing, history).verdict is Verdict.FAIL


def test_a_doubt_leaves_no_zero_check_green() -> None:
    zeros = {r.id: r.verdict for r in judge(doubted("stray traffic")(GOOD)) if r.id.startswith("zero_")}
    assert len(zeros) == 4
    assert set(zeros.values()) == {Verdict.UNKNOWN}


def test_what_a_cut_run_lacks_is_unknown_but_a_hanging_turn_is_a_fail() -> None:
    short = cut(GOOD)
    hung = added(*(e.model_copy(update={"act": "still_active"}) for e in GOOD.events if getattr(e, "act", "") == "ended"))
    verdicts = [{r.id: r.verdict for r in judge(ledger)} for ledger in (short, hung(short))]
    assert [v["script_followed"] for v in verdicts] == [Verdict.UNKNOWN, Verdict.FAIL]
    assert [v["turns_end_as_declared"] for v in verdicts] == [Verdict.UNKNOWN, Verdict.FAIL]


def test_a_contradiction_outranks_a_missing_control() -> None:
    alone = Perfect(ALONE).play()
    acquired = intrusion("acquire", edge="host-broker", target="/x", asked={}, reply={})(alone)
    verdicts = [{r.id: r.verdict for r in judge(ledger)}["zero_acquisition"] for ledger in (alone, acquired)]
    assert verdicts == [Verdict.UNKNOWN, Verdict.FAIL]


def test_traffic_of_no_known_session_keeps_absence_from_being_claimed() -> None:
    played = Perfect(SECOND).play()
    stray = intrusion("acquire", edge="host-broker", target="/x", asked={}, reply={})(played)
    nameless = stray.model_copy(update={"events": (*stray.events[:-1], stray.events[-1].model_copy(update={"session": ""}))})
    (result,) = [r for r in judge(nameless) if r.id == "zero_acquisition"]
    assert (result.verdict, "belongs to no known session" in result.finding) == (Verdict.UNKNOWN, True)


def test_a_finding_is_one_line_without_control_characters() -> None:
    assert Finding(Verdict.FAIL, "a\x00b\x1b[0m\n\x7f \u2028").text == r"a\x00b\x1b[0m\x0a\x7f \u2028"


@pytest.mark.parametrize("update", [{"fault": "cut"}, {"status": None}])
def test_a_fault_or_a_lost_reply_explains_a_model_request_that_was_sent_again(update: dict[str, object]) -> None:
    first = next(e for e in GOOD.events if isinstance(e, ModelExchange) and e.step == 1)
    retry = first.model_copy(update={"order": 44, "repeated": True})
    lost = edited(lambda e: isinstance(e, Exchange) and e.order == 42, lambda _: update)
    verdicts = [{r.id: r.verdict for r in judge(added(retry)(ledger))}["script_followed"] for ledger in (GOOD, lost(GOOD))]
    assert verdicts == [Verdict.FAIL, Verdict.PASS]


def test_what_is_held_stays_unknown_while_a_turn_has_not_ended() -> None:
    held = chain(edited(row("leases"), values(released_ms=None)), doubted("the broker holds open work at the end: a lease"))
    running = without(lambda e: isinstance(e, Driven) and e.act == "ended")
    verdicts = [{r.id: r.verdict for r in judge(ledger)}["lease_released"] for ledger in (held(GOOD), running(held(GOOD)))]
    assert verdicts == [Verdict.FAIL, Verdict.UNKNOWN]


def test_findings_are_ascii_and_bounded() -> None:
    finding = Finding(Verdict.FAIL, "\ud83d" * 400)
    assert finding.text.isascii()
    assert len(finding.text) == FINDING_CHARS
    assert finding.text.endswith("...")


def test_no_finding_shows_what_the_model_said() -> None:
    changes = (without(lambda _: True), without(lambda e: e.kind == "row"), without(lambda e: e.kind == "exchange"), cut)
    findings = " ".join(r.finding for change in changes for r in judge(change(GOOD)))
    assert "printf" not in findings
    assert "ud800" not in findings


def test_the_loss_of_any_one_piece_of_evidence_is_noticed() -> None:
    unneeded = {"created", "prompted", "warm", "status"}
    for place, event in enumerate(GOOD.events):
        less = GOOD.model_copy(update={"events": GOOD.events[:place] + GOOD.events[place + 1 :]})
        noticed = any(result.verdict is not Verdict.PASS for result in judge(less))
        assert noticed or unneeded & {getattr(event, "operation", ""), getattr(event, "act", "")}, event.kind
