"""Two stored runs compared: what differs in their conditions, and what differs in their scores and verdicts.

``gate`` says what may be compared at all, ``pair`` computes, ``flips`` explains a difference criterion by criterion,
``output`` writes it for a terminal and for programs.
"""
