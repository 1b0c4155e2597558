"""Loudgate: proof, from independent witnesses, of what an agent host does with the tool calls it is sent."""
