"""The script of one session: which answer comes next, and what the request for it must look like.

Pure but for the cursor of `Player`. The rules: a turn's first request ends with the user's words; every later one ends with one
result per call of the answer before, in order, errors exactly where the scenario expects them, and repeats the original calls
unchanged. A request of another shape matches no step. The same bytes again are a retry and get the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.model.data import prompt_text
from harness.model.transcript import AskedCall, Message, Transcript
from harness.scenario.spec import Call, Case, Step

ERROR_PREFIX = "Error: "
"""How the reference host marks an error to the model; Chat Completions has no field for it."""


@dataclass(frozen=True)
class Planned:
    """One answer, with what the request for it must show."""

    step: Step
    prompt: str | None
    """The user's words, if this is a turn's first answer."""
    after: Step | None
    """Else: the answer whose results the request must carry."""


def plan(case: Case, session: str, *, seed: int) -> tuple[Planned, ...]:
    """The session's answers in order."""

    def answers() -> Iterator[Planned]:
        for place, act in case.prompts(session):
            before: Step | None = None
            for step in act.step:
                prompt = prompt_text(case, place, act, seed=seed) if before is None else None
                yield Planned(step=step, prompt=prompt, after=before)
                before = step

    return tuple(answers())


def fits(planned: Planned, transcript: Transcript) -> bool:
    """Whether the request has the shape that this answer is for."""
    last = transcript.messages[-1] if transcript.messages else Message("system")
    return last.role == ("user" if planned.prompt is not None else "result")


def problems(planned: Planned, transcript: Transcript) -> Iterator[str]:
    """What the request fails to show, in words without any of the model's text."""
    if planned.prompt is not None:
        last = transcript.last("user")
        if last is None or last.text != planned.prompt:
            yield "the request does not end with the user's words"
    if planned.after is not None:
        yield from _unpaired(planned.after, transcript)
        yield from _altered(planned.after, transcript)


def _unpaired(after: Step, transcript: Transcript) -> Iterator[str]:
    results = transcript.results_after_last_assistant()
    wanted, got = [call.id for call in after.call], [message.call for message in results]
    if wanted != got:
        yield f"results expected for calls {wanted} in this order, got {len(got)} in another"
        return
    for call, message in zip(after.call, results, strict=True):
        if message.text.startswith(ERROR_PREFIX) != (call.expect != "executed"):
            yield f"call {call.id}: expected {_outcome(call)}, was told the opposite"


def _outcome(call: Call) -> str:
    return "a result" if call.expect == "executed" else "an error"


def _altered(after: Step, transcript: Transcript) -> Iterator[str]:
    said = transcript.last("assistant")
    kept = said.calls if said else ()
    sent = tuple(AskedCall(call.id, call.tool, call.argument_text()) for call in after.call)
    if len(kept) != len(sent):
        yield f"the request repeats {len(kept)} of {len(sent)} calls"
    yield from (f"call {one.id}: name or argument text was altered" for one, two in zip(sent, kept, strict=False) if one != two)


@dataclass(frozen=True)
class Taken:
    """The outcome of one request: the answer's index (None: it matched none) and what was wrong with the request."""

    index: int | None
    step: Step | None
    problems: tuple[str, ...] = ()
    repeated: bool = False


@dataclass
class Player:
    """The cursor over one session's script."""

    planned: tuple[Planned, ...]
    position: int = 0
    last_body: bytes = field(default=b"", repr=False)
    last: Taken | None = None

    def take(self, body: bytes, transcript: Transcript) -> Taken:
        """The answer for this request; advances unless the request is a retry or matches nothing."""
        if self.last is not None and body == self.last_body:
            return Taken(self.last.index, self.last.step, repeated=True)
        if self.position >= len(self.planned):
            return Taken(None, None, ("the script has ended: nothing was left to answer with",))
        planned = self.planned[self.position]
        if not fits(planned, transcript):
            awaited = "the user's words" if planned.prompt is not None else "tool results"
            return Taken(None, None, (f"a request that ends with {awaited} was expected for answer {self.position + 1}",))
        self.last = Taken(self.position, planned.step, tuple(problems(planned, transcript)))
        self.last_body = body
        self.position += 1
        return self.last
