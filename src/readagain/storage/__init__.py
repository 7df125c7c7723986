"""Files and folders on disk: atomic writes, checksums, manifests, locks, resumable output."""
