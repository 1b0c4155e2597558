"""Mutants of the hook engine: which calls a hook is shown, what is judged again, what its word counts for, how often it runs."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

ASKING = "hosted/host/asking.py"
NESTED = "hosted/host/hooks/nested.py"
BATCHES = "hosted/host/hooks/batches.py"
COLD = "hosted/host/hooks/cold.py"
COMPLETING = "hosted/host/hooks/completing.py"
ENDING = "hosted/host/hooks/ending.py"
FOLDING = "hosted/host/hooks/folding.py"
GUARDING = "hosted/host/hooks/guarding.py"
OUTPUT = "hosted/host/hooks/output.py"
RUNNING = "hosted/host/hooks/running.py"
TURN = "hosted/host/turn.py"
WORKER = "hosted/worker/executions.py"

_ADMITTED = "        if objections := admit(batch):\n"
_PERMITTED = "            await _decide(turn, step, PERMISSION, slot)\n    return _judge(turn, slots)\n"
_JUDGED_BEFORE = "    objections = _judge(turn, slots)\n    for slot in slots:\n"
_JUDGED_AFTER = "            await _decide(turn, step, PRE, slot)\n        objections = _judge(turn, slots)\n"
_COMPLETED = "        await completing.complete(turn)\n"
_SUPPRESSED = "        if refused_for_text(batch):\n            return\n"

SHOWN = (
    Mutant(
        id="hooks/refused-shown",
        file=TURN,
        edits=((_ADMITTED, _ADMITTED + "            await guarding.permit(turn, step, steps.slots_of(turn, step, batch))\n"),),
        check="no_hook_saw_invalid",
        cases=("hooks/untouched/permission-request@local-shell2",),
        why="a program that nobody wrote for broken text is given it, by a batch that counts as refused",
    ),
    Mutant(
        id="hooks/refusal-called-back",
        file=COMPLETING,
        edits=((_SUPPRESSED, "        refused_for_text(batch)\n"),),
        check="no_post_callback",
        cases=("hooks/next-batch/original@local-shell2", "hooks/next-batch/rewritten@local-shell2"),
        why="what was refused for its text goes out to programs all the same, a little later",
    ),
    Mutant(
        id="hooks/cold-refusal-called-back",
        file=COLD,
        edits=((_COMPLETED, _COMPLETED.replace("complete(turn)", "_after_all(turn, batches(turn.session.records)[-1])")),),
        check="no_post_callback",
        cases=("hooks/cold/original@local-shell1",),
        why="the host that refused the text kept it from its programs, and the next host hands it to them",
    ),
    Mutant(
        id="hooks/cold-ordinary-unseen",
        file=COLD,
        edits=((_COMPLETED, _COMPLETED.replace("await completing.complete(turn)", "return")),),
        check="zero_side_effects",
        cases=("hooks/cold-ordinary@local-shell1",),
        why="a batch that was refused for another reason than its text is shown to the hooks after it, unless its host died",
    ),
)

JUDGED = (
    Mutant(
        id="hooks/permission-unjudged",
        file=GUARDING,
        edits=(
            (_PERMITTED, _PERMITTED.replace("_judge(turn, slots)", "{}")),
            (_JUDGED_BEFORE, _JUDGED_BEFORE.replace("_judge(turn, slots)", "_judge(turn, ())")),
        ),
        check="zero_execution",
        cases=("hooks/rewrite-in-a-batch/permission-request/updated-input@local-shell1",),
        why="a hook brings back, behind the admission, what the admission keeps out",
    ),
    Mutant(
        id="hooks/rewrite-unjudged",
        file=GUARDING,
        edits=((_JUDGED_AFTER, "            await _decide(turn, step, PRE, slot)\n"),),
        check="zero_execution",
        cases=("hooks/rewrite-in-a-batch/pre-tool-use/tool-input@local-shell1",),
        why="the last word before a call runs is the only one that nobody judges",
    ),
    Mutant(
        id="hooks/repair-admitted",
        file=FOLDING,
        edits=(
            ("        if plan.mode == SEQUENTIAL:\n            verdict = _judged(plan, verdict)\n", ""),
            ("_judged(plan, verdict) if children else verdict", "_judged(plan, verdict) if children[1:] else verdict"),
        ),
        check="hook_prefix_kept",
        cases=("hooks/sequential-stop/pre-tool-use/updated-input@local-shell1",),
        why="a hook sees broken text and makes up what may have been meant by it, and that runs",
    ),
    Mutant(
        id="hooks/saved-plan-goes-on",
        file=RUNNING,
        edits=(
            (
                "while not (verdict := fold(plan, children)).ended and len",
                "while (not (verdict := fold(plan, children)).ended or len(children) == len(saved) > 0) and len",
            ),
        ),
        check="marker_completed_from_prefix",
        cases=("hooks/saved-marker/permission-request/updated-input@local-shell1",),
        why="the next host does not know that the plan was over: a later hook repairs what must be refused",
    ),
    Mutant(
        id="hooks/saved-plan-unfinished",
        file=COLD,
        edits=(('((KIND, result), ("message.committed", group))', '(("message.committed", group),)'),),
        check="marker_completed_from_prefix",
        cases=("hooks/saved-marker/pre-tool-use/tool-input@local-shell1",),
        why="the batch is refused, and its plan stands there as if its hooks had still to be asked",
    ),
    Mutant(
        id="hooks/uncertain-asked-again",
        file=COLD,
        edits=(("any(one.uncertain for one in occurrences(records).values())", "False"),),
        check="recovery_blocked",
        cases=("hooks/cold-uncertain-hook/permission-request@local-shell1",),
        why="a hook of which nobody knows whether it has run is run, or run again",
    ),
    Mutant(
        id="hooks/contradiction-overlooked",
        file=BATCHES,
        edits=(("    if batch.intents:\n", "    if batch.intents and batch.results is None:\n"),),
        check="recovery_blocked",
        cases=("hooks/cold-contradiction@local-shell1",),
        why="a call was to run in a batch that had to be refused, and the next host goes on as if that could be",
    ),
    Mutant(
        id="hooks/plan-goes-on",
        file=RUNNING,
        edits=(("while not (verdict := fold(plan, children)).ended and len", "while (verdict := fold(plan, children)) and len"),),
        check="hook_prefix_kept",
        cases=("hooks/sequential-stop/permission-request/sequential-input@local-shell1",),
        why="what ends a plan ends nothing: the next hook is let go, and its word counts for more than the one that stood",
    ),
)

_BLOCKED = '        return f"blocked it with exit status {BLOCKED}"\n'
_SHAPED = "        _take(found, decision, _KEYS[PERMISSION])\n"
_WRONG = """        raise ValueError(f'"{NESTED}" must be an object whose "{EVENT}" is {event}')\n"""
_GARBAGE = '        raise BadOutputError(f"its output {error}") from None\n'
_DENIAL = '        raise CallRefusedError(f"this call was not executed: {verdict.reason}")\n'

CLOSED = (
    Mutant(
        id="hooks/nested-rewrite-dropped",
        file=NESTED,
        edits=((_SHAPED, _SHAPED.replace("decision,", '{k: v for k, v in decision.items() if k != "updatedInput"},')),),
        check="exactly_one_execution",
        cases=("hooks/nested/permission-request@local-shell1",),
        why="what a hook has made of a call is taken in one spelling and dropped in silence in the other",
    ),
    Mutant(
        id="hooks/another-events-shape",
        file=NESTED,
        edits=((_WRONG, "        return {}\n"),),
        check="deny_means_not_run",
        cases=("hooks/nested-deny/another-event@local-shell1",),
        why="an answer to another question is passed over in silence, and that is taken for consent",
    ),
    Mutant(
        id="hooks/exit-2-consents",
        file=ENDING,
        edits=((_BLOCKED, '        return ""\n'),),
        check="deny_means_not_run",
        cases=("hooks/deny/pre-tool-use/exit-2@local-shell1",),
        why="the shortest way to say no is taken for a yes",
    ),
    Mutant(
        id="hooks/timeout-consents",
        file=ENDING,
        edits=(('"ran out of time" if output.exit_code', '"" if output.exit_code'),),
        check="deny_means_not_run",
        cases=("hooks/deny/pre-tool-use/timeout@local-shell1",),
        why="who makes the guard slow enough may do anything",
    ),
    Mutant(
        id="hooks/garbage-consents",
        file=OUTPUT,
        edits=((_GARBAGE, "        return Opinion()\n"),),
        check="deny_means_not_run",
        cases=("hooks/deny/permission-request/garbage@local-shell1",),
        why="a guard that talks nonsense guards nothing",
    ),
    Mutant(
        id="hooks/denial-ignored",
        file=GUARDING,
        edits=((_DENIAL, "        slot.contexts += (verdict.reason,)\n"),),
        check="no_false_success",
        cases=("hooks/deny/permission-request/said@local-shell1",),
        why="a denial is passed on as a remark, beside the output of what was denied",
    ),
)

COUNTED = (
    Mutant(
        id="hooks/rewrite-dropped",
        file=GUARDING,
        edits=(("    slot.given = verdict.effective\n", ""),),
        check="exactly_one_execution",
        cases=("hooks/parallel-repaired@local-shell2",),
        why="the record says what a hook has made of a call, and the original runs",
    ),
    Mutant(
        id="hooks/rewrite-unasked",
        file=ASKING,
        edits=(("digest in slot.approved", "slot.approved"),),
        check="reapproved",
        cases=("hooks/valid-rewrite@local-shell2",),
        why="somebody allows one command, and another one runs",
    ),
    Mutant(
        id="hooks/original-for-second",
        file=RUNNING,
        edits=(("len(children), verdict.effective, response)", "len(children), plan.given, response)"),),
        check="zero_side_effects",
        cases=("hooks/valid-rewrite@local-shell2",),
        why="a hook that guards what the one before it makes guards something else",
    ),
)

_REFUSED = "    if slot.refusal:\n        raise CallRefusedError(slot.refusal)\n"
_NAMED = """f'hook "{child.hook_id}" {_words(opinion)}'"""

TOLD = (
    Mutant(
        id="hooks/denied-reserved",
        file=ASKING,
        edits=((_REFUSED, ""),),
        check="deny_means_not_run",
        cases=("hooks/deny/permission-request/said@local-shell1",),
        why="a call that was denied waits at the broker for whoever starts it by mistake",
    ),
    Mutant(
        id="hooks/denial-nameless",
        file=FOLDING,
        edits=((_NAMED, "_words(opinion)"),),
        check="operator_text_agrees",
        cases=("hooks/deny/pre-tool-use/said@local-shell1",),
        why="something said no, and nobody can find out what",
    ),
    Mutant(
        id="hooks/denial-as-failure",
        file=GUARDING,
        edits=((_DENIAL, _DENIAL.replace("was not executed", "has failed")),),
        check="operator_text_agrees",
        cases=("hooks/deny/permission-request/exit-2@local-shell1",),
        why="who reads that it failed looks for its traces, or tries it again",
    ),
)

_RUNS = "            return await self._shell.run(workspace, asked.given, cancel, read_stdin(asked.given))\n"

ONCE = (
    Mutant(
        id="hooks/command-twice",
        file=WORKER,
        edits=((_RUNS, _RUNS.replace("return ", "") + _RUNS),),
        check="hook_once",
        cases=("hooks/next-batch/rewritten@local-shell2",),
        why="a hook has its effects twice, and its second output looks as if nothing had happened",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*SHOWN, *JUDGED, *CLOSED, *COUNTED, *TOLD, *ONCE)
