"""Commands as a test types them."""

from graphclust.faces.cli import main as cli


def said(capsys, *arguments) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, run within this process."""
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err
