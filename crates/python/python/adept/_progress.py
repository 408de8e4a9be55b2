"""A progress bar for notebooks and terminals."""


def progress_bar(**options):
    """A callback for `on_progress` of `train` and `study` that draws a bar with tqdm, as a widget in a notebook. A study has one bar over
    the steps of all runs, which also counts the runs. `options` go to tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress_bar needs tqdm: pip install tqdm ipywidgets") from error
    bar, steps, ended = None, {}, 0

    def show(event):
        nonlocal bar, ended
        kind = event["kind"]
        if kind == "study":
            steps.clear()
            ended = event["from"]
            bar = tqdm(total=event["total"], initial=ended, unit=" steps", unit_scale=True, **options)
        elif kind == "started" and "run" not in event:
            bar = tqdm(total=event["total"], initial=event["from"], unit=f" {event['unit']}", **options)
        if bar is None:
            return
        if "runs" in event:
            _show_study(bar, event, steps, ended)
        else:
            if "step" in event and kind != "set_back":
                bar.update(event["step"] - bar.n)
            if kind == "measured" and event.get("loss") is not None:
                bar.set_postfix(loss=f"{event['loss']:.4f}")
        if kind == "over" or kind == "ended" and "runs" not in event:
            bar.close()

    return show


def _show_study(bar, event, steps, ended):
    kind, run = event["kind"], event.get("run")
    if kind == "started":
        steps[run] = [event["from"], event["total"]]
    elif run in steps and "step" in event:
        # A run that ended early is done.
        steps[run][0] = steps[run][1] if event.get("finished") else event["step"]
    elif kind == "failed" and run in steps:
        steps[run][0] = steps[run][1]
    label = f"{event['done']}/{event['runs']} runs"
    if bar.desc != f"{label}: ":
        bar.set_description(label, refresh=False)
    bar.update(ended + sum(done for done, _ in steps.values()) - bar.n)
    if kind == "over":
        bar.refresh()
