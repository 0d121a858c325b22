"""What a running broker tells its operator: lines with a subject and a level, and how they are written.

- A line is one line, whatever names stand in it (`lapwing.text`).
- Which lines there are, how many a minute, and what is left out, the node decides by kind; here only levels are.
- Whoever prints chooses the format: words, JSON, or entries of journald with fields of their own.
"""
