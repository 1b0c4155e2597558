"""The cases of the hand-written histories."""

from __future__ import annotations

from harness.scenario.spec import Act, Approval, Call, Case, Fault, Hook, Send, Step, Tools

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
PUBLISHED = CORRECTED.model_copy(update={"id": "history/refused, then corrected, on o2", "path": "o2"})
DENIED = Call(id="c5", arguments='{"command": "printf no > no.txt"}', expect="denied")
ABANDONED = Call(id="c6", arguments='{"command": "printf lost > lost.txt"}', expect="abandoned")
_ASKING = _case(
    "refused, then one call allowed and one denied",
    Act(prompt="main", wait=False, step=(Step(call=(REFUSED, SIBLING)), Step(call=(EXECUTED, DENIED)), DONE)),
    Act(answer="main"),
    Act(answer="main", decision="deny"),
    Act(finish="main"),
    Act(answer="main", late=True),
)
ASKED = _ASKING.model_copy(update={"approval": Approval()})
_LOSING = _case(
    "an assistant message that is lost on its way, after a turn that works",
    Act(prompt="main", step=(Step(call=(EXECUTED,)), DONE)),
    Act(prompt="main", ends="turn_error", step=(Step(call=(ABANDONED,)),)),
    Act(blocked="main"),
    Act(detach="main"),
    Act(load_refused="main"),
)
BLOCKED = _LOSING.model_copy(
    update={"faults": (Fault(edge="host-store", operation="append", tap="lose_request", contains="lost.txt", times=4),)}
)
BROKEN_OFF = _case(
    "the host is killed, and nobody can say how its turn ended",
    Act(prompt="main", step=(Step(call=(EXECUTED,)), DONE)),
    Act(prompt="main", wait=False, ends="unknown", step=(Step(call=(ABANDONED,)),)),
    Act(kill="host"),
    Act(load_refused="main"),
).model_copy(update={"private": True})
_UNKNOWN = Call(
    id="c9",
    arguments='{"comand": "printf no > no.txt"}',
    expect="refused",
    names="comand",
    says="is not known",
    suggests="command",
)
_CLAMPED = Call(
    id="c10",
    arguments='{"command": "printf hi > out.txt", "TimeoutSeconds": 1200}',
    expect="executed",
    bound='{"command": "printf hi > out.txt", "timeout": 600000}',
    told=("requested 1200 s, applied 600 s", '"TimeoutSeconds" was taken as "_timeout_seconds"'),
    writes={"out.txt": "hi"},
)
SEAM = _case(
    "a near-miss key, then an alias and a clamp",
    Act(prompt="main", step=(Step(call=(_UNKNOWN,)), Step(call=(_CLAMPED,)), DONE)),
).model_copy(update={"findings": (1, 2, 7)})
_LOOKS = Call(id="c11", arguments='{"command": "pwd"}', expect="executed", granted=True)
_FORBIDDEN = Call(id="c12", tool="list_webhooks", arguments="{}", expect="denied", policy="list_webhooks")
GOVERNED = _case(
    "the policy grants one call and denies another",
    Act(prompt="main", step=(Step(call=(_LOOKS, _FORBIDDEN)), DONE)),
).model_copy(update={"tools": Tools(allow=("run_shell_command",), read_only="grant")})
MISCONFIGURED = _case("a configuration that is refused", Act(create_refused="main"))
LOOKS = Hook(id="looks", event="PreToolUse", command="cat > seen.txt")
BREAKS = Hook(id="breaks", event="PreToolUse", command="printf half")
CALLBACK = Hook(id="after", event="PostToolBatch", command="cat > batch.txt")
BROKEN = r'{"updatedInput": {"command": "printf x # \ud83d"}}'
"""What the second hook prints."""
_REWRITTEN = Call(id="c7", arguments='{"command": "printf x > never.txt"}', expect="refused", rewritten=True)
_HOOKING = _case(
    "refused, then refused for what a hook made of it, then run",
    Act(prompt="main", step=(Step(call=(REFUSED, SIBLING)), Step(call=(_REWRITTEN,)), Step(call=(EXECUTED,)), DONE)),
)
HOOKED = _HOOKING.model_copy(update={"hooks": (LOOKS, BREAKS, CALLBACK)})
_KILLING = _case(
    "the host is killed when the hook that breaks the text is on record, and its plan's result is not",
    Act(prompt="main", wait=False, ends="turn_error", step=(Step(call=(_REWRITTEN,)),)),
    Act(kill="host"),
    Act(load="main"),
    Act(finish="main"),
    Act(prompt="main", step=(Step(call=(EXECUTED,)), DONE)),
)
_HELD = Fault(edge="host-store", operation="append", tap="hold_reply", contains='\\"state\\":\\"child\\"', gate="on-record")
KILLED = _KILLING.model_copy(update={"private": True, "hooks": (BREAKS, LOOKS), "faults": (_HELD,)})
GUARD = Hook(id="guard", event="PreToolUse", command="printf no")
DENIAL = '{"permissionDecision": "deny", "reason": "not today"}'
"""What it prints."""
CHANGES = Hook(id="changes", event="PreToolUse", command="printf other")
_OTHER = '{"command": "printf other > other.txt"}'
CHANGE = f'{{"updatedInput": {_OTHER}}}'
"""What it prints."""
_CHANGED = Call(
    id="c8", arguments='{"command": "printf old > other.txt"}', expect="executed", effective=_OTHER, writes={"other.txt": "other"}
)
_DENYING = _case("a hook denies one call, and another one runs", Act(prompt="main", step=(Step(call=(DENIED, EXECUTED)), DONE)))
DENYING = _DENYING.model_copy(update={"hooks": (LOOKS, GUARD, CALLBACK)})
_CHANGING = _case(
    "what a hook has changed is asked about again",
    Act(prompt="main", wait=False, step=(Step(call=(_CHANGED,)), DONE)),
    Act(answer="main"),
    Act(answer="main"),
    Act(finish="main"),
)
CHANGING = _CHANGING.model_copy(update={"hooks": (CHANGES,), "approval": Approval()})
STRAIGHT = _case(
    "one request that the broker refuses, and its twin",
    Act(request="broker", send=Send(label="other", path="/warm", body="{}", status=400, code="unsupported_version")),
    Act(request="broker", send=Send(label="own", path="/warm", body="{}")),
)
