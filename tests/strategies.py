"""Tables of results as hypothesis draws them: hostile names, gaps, odd numbers, every key."""

from hypothesis import strategies as st

import examiner as ex

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"quoted\", 'twice'",
    "a,b;c\td|e",
    "line\nbreak",
    "carriage\rreturn",
    "emoji 🐙🏳️‍🌈",
    "עברית العربية",
    "\u202eright-to-left override",
    "x" * 10_000,
    " leading and trailing ",
    "NaN",
    "null",
    "None",
    "NA",
    "-",
    "007",
    "1e5",
    "true",
    "=1+1",
    "agent",
    "task",
    "{{ 7 * 7 }}",
    "%{x}",
    "\\n",
    "[1]",
]

names = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\x00"),
        min_size=1,
        max_size=12,
    ),
)
scores = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.integers(-1000, 1000).map(float),
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[object]]:
    """Columns of a tidy table with every key, some measures missing, attributes and levels."""
    agents = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    tasks = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    levels = draw(st.sampled_from([None, [0, 1], ["a", "01"]]))
    keys = [
        (agent, task, level, run, trial)
        for agent in agents
        for task in tasks
        for level in (levels or [None])
        for run in range(draw(st.integers(1, 2)))
        for trial in range(2)
    ]
    kept = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=20, unique=True))
    values = draw(
        st.lists(st.one_of(scores, st.none()), min_size=len(kept), max_size=len(kept)).filter(
            lambda drawn: any(value is not None for value in drawn)
        )
    )
    columns: dict[str, list[object]] = {
        "agent": [key[0] for key in kept],
        "task": [key[1] for key in kept],
        "run": [key[3] for key in kept],
        "trial": [key[4] for key in kept],
        "score": list(values),
        "win": [float(draw(st.booleans())) for _ in kept],
        "length": [draw(st.integers(0, 10**6)) for _ in kept],
    }
    if levels:
        columns["level"] = [key[2] for key in kept]
    return columns


@st.composite
def results(draw: st.DrawFn) -> ex.Results:
    """Results with or without scales."""
    table = ex.Results.from_dict(draw(tables()))
    if draw(st.booleans()):
        scale = ex.results.TaskScale(table.task_names[0], random=draw(scores), reference=None)
        table = table.with_scales(ex.results.Scales([scale]))
    return table
