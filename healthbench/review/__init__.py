"""Human reviews of a grader's verdicts: which to look at, what they change, and how far reviewer and grader agree."""
