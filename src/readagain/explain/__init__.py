"""A summary and what was looked at, as a page, a picture, JSON or coloured text."""
