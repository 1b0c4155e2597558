"""The script's rules: what matches, what is a retry, what is a problem."""

from __future__ import annotations

from harness.model.script import Player, plan
from harness.model.transcript import AskedCall, Message, Transcript
from harness.scenario.spec import Act, Call, Case, Step

BAD = Call(id="bad", arguments=r'{"command": "\ud83d"}', expect="refused", names="command")
CASE = Case(
    id="x",
    area="x",
    title="x",
    profile="hosted-workspace-shell/1",
    acts=(Act(prompt="main", text="do it", step=(Step(call=(BAD,)), Step(text="done"))),),
)
USER = Message("user", "do it")
ASKED = Message("assistant", calls=(AskedCall("bad", "run_shell_command", r'{"command": "\ud83d"}'),))


def player() -> Player:
    return Player(plan(CASE, "main", seed=1))


def heard(*messages: Message) -> Transcript:
    return Transcript(messages)


def test_the_expected_requests_get_the_steps_in_order() -> None:
    one = player()
    assert one.take(b"1", heard(USER)).index == 0
    second = one.take(b"2", heard(USER, ASKED, Message("result", "Error: no", call="bad")))
    assert (second.index, second.problems) == (1, ())


def test_the_same_bytes_again_are_a_retry() -> None:
    one = player()
    one.take(b"1", heard(USER))
    again = one.take(b"1", heard(USER))
    assert (again.index, again.repeated, one.position) == (0, True, 1)


def test_a_request_of_another_shape_matches_nothing() -> None:
    one = player()
    assert one.take(b"1", heard(USER, ASKED, Message("result", "x", call="bad"))).index is None
    assert one.position == 0


def test_a_request_after_the_end_matches_nothing() -> None:
    one = player()
    one.take(b"1", heard(USER))
    one.take(b"2", heard(USER, ASKED, Message("result", "Error: no", call="bad")))
    assert one.take(b"3", heard(USER)).index is None


def test_unmet_expectations_are_named() -> None:
    altered = Message("assistant", calls=(AskedCall("bad", "run_shell_command", "{}"),))
    one = player()
    one.take(b"1", heard(USER))
    told = one.take(b"2", heard(USER, altered, Message("result", "it went well", call="bad")))
    assert len(told.problems) == 2
    assert "was told the opposite" in told.problems[0]
    assert "altered" in told.problems[1]


def test_a_missing_result_is_named() -> None:
    one = player()
    one.take(b"1", heard(USER))
    told = one.take(b"2", heard(USER, ASKED, Message("result", "Error: no", call="other")))
    assert "['bad']" in told.problems[0]
