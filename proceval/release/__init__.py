"""Publishing: the release folder, what a stranger rechecks it with, the gate before an upload, and the upload."""
