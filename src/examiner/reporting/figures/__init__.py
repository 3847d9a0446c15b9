"""Pictures: one figure a file, each `data(...)` (a named tuple) and then `draw(data)` (a plotly figure).

A drawn figure is a plain dictionary, which `plotly.graph_objects.Figure(figure)` takes as it is.
"""
