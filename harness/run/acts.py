"""What the driver does for each verb of an act. One small function per verb, in a table."""

from __future__ import annotations

from collections.abc import Callable

from harness.clock import holds_within
from harness.errors import Refused
from harness.ledger.event import Driven
from harness.ledger.facts import RECOVERY_REQUIRED
from harness.limits import TURN_S, WATCH_MS
from harness.model.data import prompt_text
from harness.run.play import Play
from harness.run.stillness import stillness_of
from harness.scenario.spec import VERBS, Act


def perform(play: Play, place: int, act: Act) -> None:
    """Do one act of the scenario."""
    verb = next(verb for verb in VERBS if getattr(act, verb) is not None)
    VERB_ACTS[verb](play, str(getattr(act, verb)), act, place)


def _prompt(play: Play, label: str, act: Act, place: int) -> None:
    if label not in play.sessions.attached():
        play.sessions.create(label)
        play.note("created", label)
    prompt_id = f"p{place + 1}"
    counted = any(one.await_command for one in play.case.acts)
    play.prompted[label] = (prompt_id, int(play.observation.state()["commands"]) if counted else 0)
    play.note("prompted", label, detail=prompt_id)
    try:
        play.sessions.prompt(label, prompt_id, prompt_text(play.case, place, act, seed=play.seed))
    except Refused as refusal:
        play.note("refused", label, detail=refusal.code)
        return
    if act.wait:
        _finish(play, label, act, place)


def _finish(play: Play, label: str, _act: Act, _place: int) -> None:
    stillness = stillness_of(play)

    def over() -> bool:
        return not play.sessions.active(label, wait_ms=WATCH_MS) or (stillness is not None and stillness.reached())

    ended = holds_within(over, TURN_S)
    if ended and not (stillness and stillness.was_reached):
        events = play.sessions.transcript(label)
        prompt_id = play.prompted[label][0]
        ends = [event["type"] for event in events if event["promptId"] == prompt_id and event["type"].startswith("turn_")]
        play.note("ended", label, detail=",".join(ends), body={"events": events})
        return
    play.stuck.add(label)
    if stillness and stillness.was_reached:
        busy = int(play.observation.state()["busy"].get(label, 0))
        told = f"; it was told workspace_busy {busy} times in {stillness.elapsed():.1f} s" if busy else ""
        play.note("still_active", label, detail=f"while nothing moved for {stillness.seconds:g} s{told}")
    else:
        play.doubt(f"the turn of session {label} did not end within {TURN_S:g} s")


def _cancel(play: Play, label: str, _act: Act, _place: int) -> None:
    play.sessions.cancel(label)
    play.note("cancelled", label)


def _detach(play: Play, label: str, _act: Act, _place: int) -> None:
    play.sessions.detach(label)
    play.note("detached", label)


def _load(play: Play, label: str, _act: Act, _place: int) -> None:
    play.sessions.load(label)
    play.note("loaded", label, body={"events": play.sessions.transcript(label)})


def _load_refused(play: Play, label: str, _act: Act, _place: int) -> None:
    try:
        play.sessions.load(label)
    except Refused as refusal:
        if refusal.code == RECOVERY_REQUIRED:
            play.blocked.add(label)
        play.note("load_refused", label, detail=refusal.code)
        return
    play.note("loaded", label, body={"events": play.sessions.transcript(label)})


def _create_refused(play: Play, label: str, _act: Act, _place: int) -> None:
    try:
        play.sessions.create(label)
    except Refused as refusal:
        play.note("create_refused", label, detail=refusal.code)
        return
    play.note("created", label)


def _blocked(play: Play, label: str, _act: Act, place: int) -> None:
    status = play.sessions.status(label)
    try:
        play.sessions.prompt(label, f"p{place + 1}", "Is anybody there?")
        refused = "the prompt was taken"
    except Refused as refusal:
        refused = refusal.code
    if status.get("recoveryBlocked"):
        play.blocked.add(label)
    play.note("blocked", label, detail=refused, body={"recoveryBlocked": bool(status.get("recoveryBlocked"))})


def _open(play: Play, gate: str, _act: Act, _place: int) -> None:
    play.observation.open_gate(gate)


def _await_held(play: Play, gate: str, _act: Act, _place: int) -> None:
    play.awaited(f"an answer held at gate {gate}", lambda: gate in play.observation.state()["held"])


def _await_busy(play: Play, label: str, _act: Act, _place: int) -> None:
    """The bound ends in evidence: a session that is not told to wait was let in, or was never kept out."""
    stillness = stillness_of(play)

    def told() -> bool:
        return bool(play.observation.state()["busy"].get(label))

    holds_within(lambda: told() or (stillness is not None and stillness.reached()), TURN_S)
    seen = told()
    bound = stillness.seconds if stillness and stillness.was_reached else TURN_S
    play.note("busy_seen" if seen else "busy_not_seen", label, detail="" if seen else f"within {bound:g} s")


def _await_command(play: Play, label: str, _act: Act, _place: int) -> None:
    before = play.prompted[label][1]
    play.awaited(f"a command spawned by session {label}", lambda: int(play.observation.state()["commands"]) > before)


def _asked(play: Play, label: str) -> bool:
    """Wait until the session asks for an approval that was not seen yet."""

    def new() -> bool:
        known = play.asked.get(label, {}).get("approvalId")
        pending = [one for one in play.sessions.status(label).get("pendingApprovals", ()) if one["approvalId"] != known]
        if pending:
            play.asked[label] = dict(pending[0])
            play.note("asked", label, detail=str(pending[0]["callId"]), body={"pending": len(pending)})
        return bool(pending)

    return play.awaited(f"a request for an approval by session {label}", new)


def _answer(play: Play, label: str, act: Act, _place: int) -> None:
    if not act.late and not _asked(play, label):
        return
    request = play.asked[label]
    try:
        play.sessions.answer(label, str(request["approvalId"]), act.decision, str(request["inputDigest"]))
        said = "accepted"
    except Refused as refusal:
        said = refusal.code
    play.note("answered", label, detail=said, body={"callId": request["callId"], "decision": act.decision, "late": act.late})


def _expire(play: Play, label: str, _act: Act, _place: int) -> None:
    if _asked(play, label):
        asked = play.asked[label]["approvalId"]

        def gone() -> bool:
            return asked not in [one["approvalId"] for one in play.sessions.status(label).get("pendingApprovals", ())]

        if play.awaited(f"the lapse of an approval of session {label}", gone):
            play.note("expired", label, detail=str(play.asked[label]["callId"]))


def _kill(play: Play, service: str, _act: Act, _place: int) -> None:
    play.arms.restart(play.arm.name, service)
    play.sessions.forget()
    play.note("killed", "", detail=service)


def _request(play: Play, service: str, act: Act, _place: int) -> None:
    if act.send is not None:
        said = play.direct.send(service, act.send)
        play.events.append(Driven(order=play.direct.order, act="requested", session="", detail=said))


VERB_ACTS: dict[str, Callable[[Play, str, Act, int], None]] = {
    "prompt": _prompt,
    "finish": _finish,
    "cancel": _cancel,
    "detach": _detach,
    "load": _load,
    "load_refused": _load_refused,
    "create_refused": _create_refused,
    "blocked": _blocked,
    "open": _open,
    "await_held": _await_held,
    "await_busy": _await_busy,
    "await_command": _await_command,
    "answer": _answer,
    "expire": _expire,
    "request": _request,
    "kill": _kill,
}
