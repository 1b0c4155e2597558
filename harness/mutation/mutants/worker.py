"""Mutants of the worker: each row of its admission table missing, and what may go wrong between a command and its outcome."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

_NO_COMMAND = "direct/broker-version@local-shell2"
"""The control where a mutant spoils every command."""
_FENCING = "direct/worker-fencing@local-shell2"
_STREAMS = "worker/exit-and-streams@local-shell2"
_WRITTEN_BYTES = "worker/written-bytes@local-shell2"
_TIMEOUT = "isolation/timeout-kills-the-tree@local-shell2"


def _without(row: str, line: str, case: str, why: str) -> Mutant:
    """A row of the table is missing, and a direct scenario must show it."""
    return Mutant(
        id=f"worker/{row}-removed",
        file="hosted/worker/admission.py",
        edits=((f"    {line},\n", ""),),
        check="answers_as_declared",
        cases=(case,),
        why=why,
        removes=f"worker:{row}",
    )


_REMOVED = (
    _without(
        "identities",
        'Check("identities", "every id has the form of an id", check_identities, EVERY)',
        "direct/worker-identities@local-shell2",
        "a workspace's id may be a path into another one",
    ),
    _without(
        "path-names",
        'Check("path-names", "tenant and workspace name directories of their own", check_path_names, EXECUTE)',
        "direct/worker-path-names/workspace-above@local-shell2",
        "a workspace is the folder that holds those of all tenants",
    ),
    _without(
        "fencing",
        'Check("fencing", "the generation is the highest one seen, or higher", check_fencing, EXECUTE)',
        _FENCING,
        "what an earlier owner has sent late runs beside the later one's work",
    ),
    _without(
        "publisher",
        'Check("publisher", "a capture that must be published can be", check_publisher, EXECUTE)',
        "direct/worker-publisher@local-shell2",
        "a command runs although its capture can never be admitted, and blocks its session",
    ),
)

_ADMITTED = (
    Mutant(
        id="worker/fencing-forgotten",
        file="hosted/worker/executions.py",
        edits=(("        self._generations[place] = max(highest, asked.generation)\n", ""),),
        check="answers_as_declared",
        cases=(_FENCING,),
        why="the highest generation is never noted, so none is ever too low",
    ),
    Mutant(
        id="worker/executed-again",
        file="hosted/worker/executions.py",
        edits=(
            ("        if known is not None and known.harness == asked.harness:\n            return known\n", ""),
            ("        if known is not None:\n", "        if known is not None and known.harness != asked.harness:\n"),
        ),
        check="answers_as_declared",
        cases=(_FENCING,),
        why="an execution that arrives twice is judged and run twice",
    ),
    Mutant(
        id="worker/tenants-mixed",
        file="hosted/worker/sandbox.py",
        edits=(("        tenant = root / tenant_id\n", '        tenant = root / "tenant"\n'),),
        check="witnesses_agree",
        cases=("batch/correction-once@local-shell2",),
        control=_NO_COMMAND,
        why="workspaces of one name are one folder, whichever tenant's they are",
    ),
    Mutant(
        id="worker/path-leaves",
        file="hosted/worker/paths.py",
        edits=(("    if not real.is_relative_to(root):\n", "    if root == real:\n"),),
        check="answers_as_declared",
        cases=("direct/worker-paths@local-shell2",),
        why="a file tool reads and writes outside of its workspace",
    ),
    Mutant(
        id="worker/unconfined",
        file="hosted/worker/sandbox.py",
        edits=(("            landlock.restrict(ruleset)\n", ""),),
        check="result_reaches_model",
        cases=("isolation/sight/other-workspaces@local-shell2",),
        why="a command looks into the workspaces of others",
    ),
    Mutant(
        id="worker/environment-inherited",
        file="hosted/worker/shell.py",
        edits=(('env={"PATH": SEARCH_PATH', 'env={**os.environ, "PATH": SEARCH_PATH'),),
        check="result_reaches_model",
        cases=("isolation/sight/tokens@local-shell2",),
        why="every command can read the worker's token",
    ),
)

_RUN = (
    Mutant(
        id="worker/command-twice",
        file="hosted/worker/executions.py",
        edits=(
            (
                "            return await self._shell.run(workspace, asked.given, cancel)\n",
                "            await self._shell.run(workspace, asked.given, cancel)\n"
                "            return await self._shell.run(workspace, asked.given, cancel)\n",
            ),
        ),
        check="exactly_one_execution",
        cases=("batch/correction-once@local-shell2",),
        control=_NO_COMMAND,
        why="a command has its effects twice, and its second output looks as if nothing had happened",
    ),
    Mutant(
        id="worker/command-stripped",
        file="hosted/worker/shell.py",
        edits=(('command.encode("utf-8"), timeout_ms', 'command.strip().encode("utf-8"), timeout_ms'),),
        check="exactly_one_execution",
        cases=("worker/command-bytes@local-shell2",),
        why="what runs is not quite what was admitted",
    ),
    Mutant(
        id="worker/command-normalised",
        file="hosted/worker/shell.py",
        edits=(
            ("import subprocess\n", "import subprocess\nimport unicodedata\n"),
            ('command.encode("utf-8"), timeout_ms', 'unicodedata.normalize("NFC", command).encode("utf-8"), timeout_ms'),
        ),
        check="zero_side_effects",
        cases=("unicode/valid/combining@local-shell2",),
        why="decomposed letters are composed: other bytes, other file names than the model's",
    ),
    Mutant(
        id="worker/command-replaced",
        file="hosted/worker/shell.py",
        edits=(('command.encode("utf-8"), timeout_ms', 'command.encode("utf-8", "replace"), timeout_ms'),),
        check="zero_side_effects",
        cases=("worker/ill-formed@local-shell2",),
        why="a command that cannot be written down is run with question marks in it",
    ),
    Mutant(
        id="worker/cancel-ignored",
        file="hosted/worker/api.py",
        edits=(("        execution.cancel.set()\n", ""),),
        check="answers_as_declared",
        cases=("direct/broker-execution@local-shell2",),
        why="a cancelled command runs on",
    ),
    Mutant(
        id="worker/tree-survives",
        file="hosted/worker/shell.py",
        edits=(
            ("                    self.trees.kill(process.pid)\n", "                    process.kill()\n"),
            (
                "            return await self.trees.sweep(process.pid)\n",
                "            return 0 if process.returncode < 0 else await self.trees.sweep(process.pid)\n",
            ),
        ),
        check="result_reaches_model",
        cases=(_TIMEOUT,),
        why="only the shell is killed when it runs out of time, and its children go on",
    ),
    Mutant(
        id="worker/background-survives",
        file="hosted/worker/shell.py",
        edits=(
            (
                "            return await self.trees.sweep(process.pid)\n",
                "            return await self.trees.sweep(process.pid) if process.returncode < 0 else 0\n",
            ),
        ),
        check="result_reaches_model",
        cases=("worker/background@local-shell2",),
        why="what a command left in the background changes the workspace after its end",
    ),
    Mutant(
        id="worker/timeout-is-success",
        file="hosted/worker/shell.py",
        edits=(('{"timeout": "error", "cancel"', '{"timeout": "success", "cancel"'),),
        check="no_false_success",
        cases=(_TIMEOUT,),
        why="a command that was killed half-way is told of as one that came to its end",
    ),
)

_TOLD = (
    Mutant(
        id="worker/cut-unmarked",
        file="hosted/worker/capture.py",
        edits=(("        self._cut = self._cut or len(data) > room\n", ""),),
        check="result_reaches_model",
        cases=("worker/cut/stdout@local-shell2",),
        why="the beginning of an output is taken for all of it",
    ),
    Mutant(
        id="worker/published-cut-unmarked",
        file="hosted/worker/outcome.py",
        edits=(("self.stdout_complete and len(self.stdout) <= most", "self.stdout_complete"),),
        check="recovery_blocked",
        cases=("objects/cut/stdout@o2-shell2",),
        why="a capture that was cut to its bound is admitted as a complete one",
    ),
    Mutant(
        id="worker/streams-swapped",
        file="hosted/worker/shell.py",
        edits=(
            ("stdout, stdout_complete = await streams[0]", "stdout, stdout_complete = await streams[1]"),
            ("stderr, stderr_complete = await streams[1]", "stderr, stderr_complete = await streams[0]"),
        ),
        check="result_reaches_model",
        cases=(_STREAMS,),
        why="errors are read as output, and output as errors",
    ),
    Mutant(
        id="worker/exit-code-lost",
        file="hosted/worker/shell.py",
        edits=(("            exit_code=code,\n", "            exit_code=0,\n"),),
        check="result_reaches_model",
        cases=(_STREAMS,),
        why="a command that failed is told of as one that did not",
    ),
    Mutant(
        id="worker/written-twice",
        file="hosted/worker/files.py",
        edits=(("            file.write(content)\n", "            file.write(content)\n            file.write(content)\n"),),
        check="zero_side_effects",
        cases=(_WRITTEN_BYTES,),
        why="a file holds its content twice",
    ),
    Mutant(
        id="worker/uploads-nothing",
        file="hosted/worker/publisher.py",
        edits=(
            ('{"stdout": outcome.stdout, "stderr": outcome.stderr}', "dict[str, bytes]()"),
            ("        await self._upload(self._place.manifest_key, manifest)\n", ""),
        ),
        check="faults_fired",
        cases=("objects/recovered/write-503@o2-shell2",),
        why="a fault that meets no upload proves nothing, and the case must not be green for it",
    ),
    Mutant(
        id="worker/written-behind",
        file="hosted/worker/files.py",
        edits=(("os.O_CREAT | os.O_TRUNC |", "os.O_CREAT |"),),
        check="zero_side_effects",
        cases=(_WRITTEN_BYTES,),
        why="a shorter content leaves the end of the longer one behind it",
    ),
    Mutant(
        id="worker/line-ends-altered",
        file="hosted/worker/files.py",
        edits=(('content = text.encode("utf-8")', 'content = text.replace("\\r\\n", "\\n").encode("utf-8")'),),
        check="zero_side_effects",
        cases=(_WRITTEN_BYTES,),
        why="a file for another system gets the line ends of this one",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*_REMOVED, *_ADMITTED, *_RUN, *_TOLD)
