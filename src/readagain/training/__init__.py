"""Training: batches on the device, the loop, validation, resume, several processes."""
