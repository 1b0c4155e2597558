"""The explicit table of taps. To add one: write its file in `taps/`, add its row here, give it an example in the selftests."""

from __future__ import annotations

from harness.relay.tap import Tap
from harness.relay.taps.altered import Altered
from harness.relay.taps.full import Full
from harness.relay.taps.hold_reply import HoldReply
from harness.relay.taps.lose_reply import LoseReply
from harness.relay.taps.lose_request import LoseRequest
from harness.relay.taps.nothing import Nothing
from harness.relay.taps.slow import Slow
from harness.relay.taps.slow_down import SlowDown
from harness.relay.taps.stalled import Stalled
from harness.relay.taps.unavailable import Unavailable

NOTHING: Tap = Nothing()
TAPS: dict[str, Tap] = {
    tap.id: tap
    for tap in (
        *(NOTHING, LoseReply(), LoseRequest(), HoldReply()),
        *(Unavailable(), SlowDown(), Full(), Slow(), Stalled(), Altered()),
    )
}
