"""Pure functions that draw: arrays, frames or dataclasses in, one plotly figure out.

Colours, marks and the template are in ``theme``; nothing here knows Streamlit.
"""
