"""The cases of the hand-written histories."""

from __future__ import annotations

from harness.scenario.spec import Act, Call, Case, Step

REFUSED = Call(id="c1", arguments=r'{"command": "printf zq1-canary \ud800 > broken.txt"}', expect="refused", names="command")
SIBLING = Call(id="c2", arguments='{"command": "date > sibling.txt"}', expect="sibling")
EXECUTED = Call(
    id="c3",
    arguments='{"command": "printf hi | tee out.txt"}',
    expect="executed",
    writes={"out.txt": "hi"},
    output="hi",
)
ADMITTED = Call(id="c4", arguments=r'{"command": "cat out.txt # e\u0301", "timeout": 400}', expect="executed", output="hi")
DONE = Step(text="done")


def _case(name: str, *acts: Act) -> Case:
    return Case(id=f"history/{name}", area="history", title=name, profile="hosted-workspace-shell/1", acts=acts)


ALONE = _case("refused and not corrected", Act(prompt="main", step=(Step(call=(REFUSED, SIBLING)), DONE)))
CORRECTED = _case(
    "refused, then corrected",
    Act(prompt="main", step=(Step(call=(REFUSED, SIBLING)), Step(call=(EXECUTED,)), DONE)),
)
SECOND = _case(
    "refused, then a valid call in a second session",
    Act(prompt="first", step=(Step(call=(REFUSED,)), DONE)),
    Act(prompt="second", step=(Step(call=(EXECUTED,)), DONE)),
)
RELOADED = _case(
    "refused, detached, loaded, prompted again",
    Act(prompt="main", step=(Step(call=(REFUSED,)), DONE)),
    Act(detach="main"),
    Act(load="main"),
    Act(prompt="main", step=(DONE,)),
)
OWNED = _case(
    "work, then a refusal in the same turn, while a second session waits",
    Act(prompt="main", wait=False, step=(Step(call=(EXECUTED,)), Step(call=(REFUSED,)), Step(text="done", hold="gate"))),
    Act(prompt="second", wait=False, step=(Step(call=(ADMITTED,)), DONE)),
    Act(await_busy="second"),
    Act(open="gate"),
    Act(finish="main"),
    Act(finish="second"),
)
