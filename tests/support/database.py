# SPDX-License-Identifier: MIT
"""Queries to a database that a program under test may be writing."""
import sqlite3


def read_rows(path, sql):
    """The rows of a query; none if the database or a table does not exist."""
    try:
        base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return base.execute(sql).fetchall()
        finally:
            base.close()
    except sqlite3.Error:
        return []
