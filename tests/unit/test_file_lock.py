"""A lock that one holder has at a time."""

from readagain.file_lock import lock_file


def test_a_held_lock_is_refused_and_closing_the_file_frees_it(tmp_path):
    path = tmp_path / "lock"
    with path.open("w") as first:
        assert lock_file(first)
        with path.open("a+") as second:
            assert not lock_file(second)
    with path.open("a+") as third:
        assert lock_file(third)
