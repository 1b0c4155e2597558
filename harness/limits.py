"""Every bound of the harness, with its unit and its reason. Nothing here is tuned to make a test green."""

from __future__ import annotations

SERVICE_READY_S = 20.0
"""A Python service on a busy two-core machine answers /healthz within 3 s; the rest is slack."""

SERVICE_STOP_S = 5.0
"""From SIGTERM to SIGKILL: services promise to stop within a second."""

WATCH_MS = 250
"""Milliseconds that one look at a turn may stay open: long against its way, short against what a stuck turn is given."""

TURN_S = 15.0
"""A scripted turn takes well under a second; past this the harness gives up and says unknown."""

QUIESCE_S = 10.0
"""From the last turn's end until every relay is idle and the broker holds no open work."""

CALL_S = 10.0
"""One HTTP call of the test process to the observer."""

RELAY_UPSTREAM_S = 65.0
"""A relay waits longer than any caller behind it (the longest wait of a host is 60 s for a lease)."""

SLOW_S = 0.3
"""What a slow service adds: well within what every caller grants."""

STALLED_S = 2.5
"""What a stalled service adds: more than IMPATIENT_MS, and far less than QUIESCE_S, in which it must be over."""

IMPATIENT_MS = 1500
"""Milliseconds in which the services of the impatient arm give a capture up. A capture takes 50 ms, on a busy machine 500."""

ADMISSION_S = 30.0
"""A service prints its admission table within a second."""

BUILD_S = 900.0
"""The build of somebody's stack, from a clean copy."""

GATE_S = 30.0
"""Whatever is held at a gate is let go after this long, and the case is then unknown."""

POLL_FIRST_S = 0.01
POLL_GROWTH = 1.3
POLL_LAST_S = 0.08
"""Between two looks at a condition: small against a turn (about 0.1 s) at first, cheap when the wait gets long."""

LOG_TAIL_LINES = 20
"""Lines of a dead service's log that go into the error."""

BODY_BYTES = 4 * 1024 * 1024
"""Largest body that the observer takes: twice what the services allow, so that their refusal is seen, not ours."""

TREE_ENTRIES = 2000
"""Files of one workspace that a snapshot lists; a workspace of a case has a handful."""

TREE_FILE_BYTES = 64 * 1024
"""Largest marker whose bytes are kept; larger files are known by digest."""

MODEL_REQUESTS = 60
"""Requests of one session to the fake model; more means that the host loops."""

RUN_FOLDER_MODE = 0o711
"""Tools under another uid must reach their workspace through the run folder, and list nothing in it."""
