"""Teaches a table of letter groups to put texts in thirty languages where the instant encoder puts the English ones."""
