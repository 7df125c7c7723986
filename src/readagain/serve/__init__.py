"""Headlines over HTTP: the API, its queue, and the page."""
