"""What is measured is shown."""

from readagain.serve.metrics import Metrics


def test_batches_are_counted_and_what_waits_is_shown():
    metrics = Metrics()
    metrics.observe_waiting(7)
    metrics.observe_batch(4)
    metrics.observe_waiting(2)
    metrics.observe_batch(16)
    lines = metrics.write().decode().splitlines()
    assert 'readagain_batch_texts_bucket{le="4.0"} 1.0' in lines
    assert "readagain_batch_texts_sum 20.0" in lines
    assert "readagain_queue_texts 2.0" in lines


def test_memory_is_looked_at_while_there_is_work(monkeypatch):
    monkeypatch.setattr("readagain.serve.metrics.resident_mb", lambda: 12.5)
    metrics = Metrics()
    metrics.observe_batch(1)
    assert b"readagain_resident_bytes 1.25e+07" in metrics.write()


def test_two_servers_in_one_process_count_apart():
    one, other = Metrics(), Metrics()
    one.count_texts("toy", 3)
    assert b'readagain_texts_total{model="toy"} 3.0' in one.write()
    assert b"readagain_texts_total{" not in other.write()
