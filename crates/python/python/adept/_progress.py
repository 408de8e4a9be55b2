"""A progress bar for notebooks and terminals."""


def progress_bar(**options):
    """A callback for `on_progress` of `train` that draws a bar with tqdm, as a widget in a notebook. `options` go to tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress_bar needs tqdm: pip install tqdm ipywidgets") from error
    bar = None

    def show(event):
        nonlocal bar
        kind = event["kind"]
        if kind == "started":
            bar = tqdm(total=event["total"], initial=event["from"], unit=f" {event['unit']}", **options)
        if bar is None:
            return
        if "step" in event and kind != "set_back":
            bar.update(event["step"] - bar.n)
        if kind == "measured" and event.get("loss") is not None:
            bar.set_postfix(loss=f"{event['loss']:.4f}")
        if kind == "ended":
            bar.close()

    return show
