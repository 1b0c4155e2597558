"""One module per wire protocol: `parse` a request into a transcript, `render` a scripted answer into bytes."""
