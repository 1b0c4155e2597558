"""The append-only record of one run of one case, merged from independent witnesses."""
