"""Headlines in a FastAPI app of your own.

    pip install '.[serve]'
    uvicorn --app-dir examples fastapi_app:app
    curl -s localhost:8000/headline -H 'Content-Type: application/json' -d '{"text": "…"}'

The model is loaded once, when the app starts. The server `readagain serve` also groups requests
into batches and limits their number.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel, Field

from readagain import Summarizer


class Article(BaseModel):
    """Request with a text."""

    text: str = Field(max_length=20_000)
    max_words: int = Field(12, ge=1, le=30)


class Headline(BaseModel):
    """Headline of a text, with warnings about possible problems."""

    headline: str
    warnings: list[str]


@asynccontextmanager
async def load_model(app: FastAPI) -> AsyncIterator[None]:
    """Load the model before the first request."""
    app.state.summarizer = Summarizer.load("news", threads=1)
    yield


def get_summarizer(request: Request) -> Summarizer:
    """Return the loaded model."""
    summarizer: Summarizer = request.app.state.summarizer
    return summarizer


app = FastAPI(lifespan=load_model)


@app.post("/headline")
def headline(
    article: Article, summarizer: Annotated[Summarizer, Depends(get_summarizer)]
) -> Headline:
    """Write a headline. FastAPI runs this function in a thread, so it does not block the app."""
    summary = summarizer.summarize(article.text, max_words=article.max_words)
    messages = [warning.message for warning in summary.warnings]
    return Headline(headline=summary.text, warnings=messages)
