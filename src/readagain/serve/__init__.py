"""HTTP server for headlines, built on FastAPI and uvicorn."""
