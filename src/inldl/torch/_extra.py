"""What is said where PyTorch is not installed."""


def need_torch(what):
    """Refuse to go on without PyTorch, which `what` needs."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} needs PyTorch: pip install 'inldl[torch]'") from error
