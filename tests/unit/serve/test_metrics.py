"""Prometheus metrics."""

from readagain.serve.metrics import Metrics


def test_metrics_show_batches_and_queue_length():
    metrics = Metrics()
    metrics.queue_length.set(7)
    metrics.observe_batch(4)
    metrics.queue_length.set(2)
    metrics.observe_batch(16)
    lines = metrics.render().decode().splitlines()
    assert 'readagain_batch_texts_bucket{le="4.0"} 1.0' in lines
    assert "readagain_batch_texts_sum 20.0" in lines
    assert "readagain_queue_texts 2.0" in lines


def test_metrics_show_memory_after_a_batch(monkeypatch):
    monkeypatch.setattr("readagain.serve.metrics.resident_bytes", lambda: 12_500_000)
    metrics = Metrics()
    metrics.observe_batch(1)
    assert b"readagain_resident_bytes 1.25e+07" in metrics.render()


def test_metrics_of_two_servers_are_separate():
    one, other = Metrics(), Metrics()
    one.texts.labels("toy").inc(3)
    assert b'readagain_texts_total{model="toy"} 3.0' in one.render()
    assert b"readagain_texts_total{" not in other.render()
