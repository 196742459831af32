"""What a broker shows of itself, described once: each field with its type, meaning and metric.

`engine.py` describes what the engine counts, `message.py` what the console sends. The engine's own
values, `/metrics`, the page's types and the tables in the docs follow from it: see decision 0063.
"""
