"""Mutants of the host's turn: what it does in which order, what it keeps, and what it tells the model."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

TURN = "hosted/host/turn.py"
STEPS = "hosted/host/steps.py"
NATIVE = "hosted/host/native.py"

IDLE = "approvals/denied@local-shell2"
"""The control of a mutant that changes every call that runs: here none does."""

_BATCH = "        batch = Batch(turn.session.profile, reply.calls)\n"
_ADMITTED = "        if objections := admit(batch):\n"
_REFUSED = "            await steps.record_refusal(turn, batch, objections)\n"
_GO_ON = "            await completing.complete(turn)  # PostToolBatch, unless it was for its text\n            continue\n"
_LOOP = "        for slot in slots:\n"
_ASSISTANT = (
    "        await path.register(turn)  # local: the host is the publisher\n        await steps.record_assistant(turn, reply)\n"
)
_ASK = "                await asking.ask(turn, slot)\n"
_PREPARE = "                await native.prepare(turn, slot)\n"
_INTENT = "                await steps.record_intent(turn, slot)\n"
_CHECKPOINT = "                await steps.record_checkpoint(turn, slot)\n"
_START = "                await native.start(turn, slot)\n"
_RESULTS = "        await steps.record_results(turn, slots)\n"
_RECEIPTS = "        await path.record_receipts(turn, slots)  # local\n"
_ACKNOWLEDGE = "        await native.acknowledge(turn, slots)\n"
_RELEASE = "        await persist(session.broker.release, retries=limits.PERSIST_RETRIES, pause_s=limits.PERSIST_PAUSE_S)\n"
_COMMIT = "        await path.commit_receipts(turn)  # o2\n"

ADMISSION_IN_ITS_PLACE = (
    Mutant(
        id="host/acquired-before-admission",
        file=TURN,
        edits=((_BATCH, _BATCH + "        await native.acquire(turn)\n"),),
        check="zero_acquisition",
        cases=("ownership/fresh-refusal@local-shell2",),
        why="the check comes after the lease: whoever sends nonsense keeps others from the workspace",
    ),
    Mutant(
        id="host/published-before-admission",
        file=TURN,
        edits=((_BATCH, _BATCH + "        await native.acquire(turn)\n        await path.register(turn)\n"),),
        check="zero_publication",
        cases=("batch/correction-once@local-shell2",),
        why="a publisher is registered for what will be refused",
    ),
    Mutant(
        id="host/siblings-executed",
        file=TURN,
        edits=(
            ("import TurnStoppedError", "import CallRefusedError, TurnStoppedError"),
            (_ADMITTED, "        objections = admit(batch)\n        if len(objections) == len(batch.calls):\n"),
            (_LOOP, "        for place, slot in enumerate(slots):\n"),
            (
                _ASK,
                "                if place in objections:\n                    raise CallRefusedError(objections[place])\n" + _ASK,
            ),
        ),
        check="zero_execution",
        cases=("batch/refusal-first@local-shell2",),
        why="the good calls of a bad batch run, though they may build on what the bad one was to do",
    ),
    Mutant(
        id="host/refusal-checkpointed",
        file=TURN,
        edits=((_REFUSED, "            await steps.record_checkpoint(turn, steps.slots_of(turn, step, batch)[0])\n" + _REFUSED),),
        check="refusal_appends_nothing_else",
        cases=("batch/correction-once@local-shell2",),
        why="the records say that a refused call was about to run",
    ),
    Mutant(
        id="host/refusal-asked",
        file=TURN,
        edits=(
            (
                _REFUSED,
                "            for slot in steps.slots_of(turn, step, batch):\n"
                "                with slot.alone():\n"
                "                    await asking.ask(turn, slot)\n" + _REFUSED,
            ),
        ),
        check="no_approval_created",
        cases=("approvals/refused@local-shell2",),
        why="somebody is asked to allow what will be refused anyway",
    ),
    Mutant(
        id="host/refusal-recorded-twice",
        file=TURN,
        edits=((_REFUSED, 2 * _REFUSED),),
        check="no_duplicate_history",
        cases=("batch/correction-once@local-shell2",),
        why="the model hears every error twice",
    ),
    Mutant(
        id="host/refusal-ends-turn",
        file=TURN,
        edits=((_GO_ON, '            raise TurnStoppedError("refused", "a batch was refused")\n'),),
        check="turns_end_as_declared",
        cases=("batch/correction-once@local-shell2",),
        why="the model never gets to correct its call",
    ),
    Mutant(
        id="host/refusal-releases",
        file=TURN,
        edits=(
            (
                _REFUSED,
                _REFUSED
                + "            await turn.session.broker.release()\n"
                + "            turn.generation, turn.has_publisher = None, False\n",
            ),
        ),
        check="owner_kept",
        cases=("reload/after-refusals@local-shell2",),
        why="a refusal gives the workspace away in the middle of a turn",
    ),
    Mutant(
        id="host/refusal-forgets-lease",
        file=TURN,
        edits=((_REFUSED, _REFUSED + "            turn.may_hold_lease = False\n"),),
        check="second_session_completes",
        cases=("ownership/owner-kept@local-shell2",),
        why="after a refusal a turn no longer knows that it has the workspace, and never gives it back",
    ),
    Mutant(
        id="host/asked-again-after-refusal",
        file=TURN,
        edits=((_ADMITTED, _ADMITTED + "            await steps.ask_model(turn)\n"),),
        check="script_followed",
        cases=("batch/correction-once@local-shell2",),
        why="the model is asked the same again, before it is told what was wrong",
    ),
    Mutant(
        id="host/errors-withheld",
        file=STEPS,
        edits=(
            (
                "session.model.ask(session.messages,",
                'session.model.ask([said for said in session.messages if not str(said["content"]).startswith("Error: ")],',
            ),
        ),
        check="script_followed",
        cases=("batch/correction-once@local-shell2",),
        why="the model is asked again without the errors of its calls",
    ),
)

STATIONS = (
    Mutant(
        id="host/assistant-after-start",
        file=TURN,
        edits=(
            (_ASSISTANT, _ASSISTANT[: _ASSISTANT.index("\n") + 1]),
            (_RESULTS, _ASSISTANT[_ASSISTANT.index("\n") + 1 :] + _RESULTS),
        ),
        check="admitted_order",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="a command runs that no record asks for: after a crash nobody knows of it",
    ),
    Mutant(
        id="host/intent-after-start",
        file=TURN,
        edits=((_INTENT, ""), (_START, _START + _INTENT)),
        check="admitted_order",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="a crash between start and intent leaves a command running of which the records know nothing",
    ),
    Mutant(
        id="host/checkpoint-missing",
        file=TURN,
        edits=((_CHECKPOINT, ""),),
        check="admitted_order",
        cases=("unicode/valid/ascii@o2-shell2",),
        control=IDLE,
        why="nothing says where the work is to be taken up again",
    ),
    Mutant(
        id="host/publisher-forgotten",
        file="hosted/host/local_path.py",
        edits=(("        await native.register_publisher(turn)\n", '        """Nobody."""\n'),),
        check="admitted_order",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="captures are published by somebody whom the broker does not know",
    ),
    Mutant(
        id="host/acknowledged-before-result",
        file=TURN,
        edits=((_RESULTS + _RECEIPTS + _ACKNOWLEDGE, _RECEIPTS + _ACKNOWLEDGE + _RESULTS),),
        check="admitted_order",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="the broker may forget an execution whose result is not on record yet",
    ),
    Mutant(
        id="host/acknowledged-late",
        file=TURN,
        edits=((_ACKNOWLEDGE, ""),),
        check="admitted_order",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="executions stay open for as long as the model takes its time",
    ),
    Mutant(
        id="host/file-calls-twice",
        file=TURN,
        edits=(
            (
                _LOOP,
                "        again = steps.slots_of(turn, step + limits.MODEL_STEPS, batch)\n"
                '        played = [*slots, *(slot for slot in again if slot.call.name == "write_file")]\n'
                "        for slot in played:\n",
            ),
            (_RECEIPTS + _ACKNOWLEDGE, (_RECEIPTS + _ACKNOWLEDGE).replace("slots", "played")),
        ),
        check="exactly_one_execution",
        cases=("batch/refusal-first@local-shell2",),
        why="what looks harmless to repeat is repeated, over what others have written meanwhile",
    ),
    Mutant(
        id="host/keys-shared",
        file=STEPS,
        edits=(('as_identity(f"{prefix}:{call.id}")', "as_identity(prefix)"),),
        check="exactly_one_execution",
        cases=("batch/refusal-first@local-shell2",),
        why="the calls of a batch are one execution to the broker: only the first one runs",
    ),
    Mutant(
        id="host/released-after-batch",
        file=TURN,
        edits=(
            (
                _COMMIT,
                _COMMIT
                + "        await turn.session.broker.release()\n"
                + "        turn.generation, turn.has_publisher = None, False\n",
            ),
        ),
        check="owner_kept",
        cases=("ownership/owner-kept@local-shell2",),
        why="between two batches of one turn somebody else changes the workspace",
    ),
    Mutant(
        id="host/release-forgotten",
        file="hosted/host/settlement.py",
        edits=((_RELEASE, "        if turn.has_publisher:\n    " + _RELEASE),),
        check="lease_released",
        cases=("unicode/valid/ascii@o2-shell2",),
        why="a session that published nothing itself keeps the workspace until its lease runs out",
    ),
)

_SENT = "dump_json(_payload(slot)), slot.grant"

INPUT = (
    Mutant(
        id="host/payload-changed",
        file=NATIVE,
        edits=((_SENT, r'dump_json(_payload(slot)).replace("\\u2028", "\\n"), slot.grant'),),
        check="bytes_identical",
        cases=("unicode/valid/line-separators@local-shell2",),
        why="between reservation and start the payload becomes another one, which nobody has admitted",
    ),
    Mutant(
        id="host/payload-cut-in-a-pair",
        file=NATIVE,
        edits=((_SENT, r'dump_json(_payload(slot)).replace("\\udd8a", ""), slot.grant'),),
        check="witnesses_agree",
        cases=("unicode/valid/emoji@local-shell2",),
        why="text is cut after its admission: the broker counts as started what no worker ever gets",
        once="start",
    ),
    Mutant(
        id="host/intent-digest-of-text",
        file=STEPS,
        edits=(("managed_tool_digest(slot.given)", "managed_tool_digest(slot.call.arguments)"),),
        check="digest_unchanged",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="the digest on record depends on white space, and nobody can compare it",
    ),
    Mutant(
        id="host/reservation-digest-composed",
        file=NATIVE,
        edits=(
            ("import time\n", "import json\nimport time\nimport unicodedata\n"),
            (
                "managed_tool_digest(slot.given)",
                'managed_tool_digest(json.loads(unicodedata.normalize("NFC", json.dumps(slot.given, ensure_ascii=False))))',
            ),
        ),
        check="digest_unchanged",
        cases=("unicode/valid/combining@local-shell2",),
        why="the digest is that of other bytes than will run",
    ),
    Mutant(
        id="host/arguments-reserialised",
        file=STEPS,
        edits=(
            ("from collections.abc import Sequence\n", "import json\nfrom collections.abc import Sequence\n"),
            ('"arguments": call.arguments}', '"arguments": json.dumps(json.loads(call.arguments))}'),
        ),
        check="arguments_preserved",
        cases=("unicode/valid/chinese@local-shell2",),
        why="the store keeps an equal text instead of the model's own",
    ),
    Mutant(
        id="host/arguments-unescaped",
        file="hosted/host/history.py",
        edits=(
            ("from collections.abc import Iterable, Sequence\n", "import json\nfrom collections.abc import Iterable, Sequence\n"),
            ('"arguments": call["arguments"]}', '"arguments": json.dumps(json.loads(call["arguments"]), ensure_ascii=False)}'),
        ),
        check="arguments_preserved",
        cases=("unicode/valid/escaped-pair@local-shell2",),
        why="the model is shown another text than it gave",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*ADMISSION_IN_ITS_PLACE, *STATIONS, *INPUT)
