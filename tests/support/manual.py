# SPDX-License-Identifier: MIT
"""The examples of the manual."""
import json
import os
import re

BUILD = os.environ.get("HGYM_BUILD", "build")


def example(page, word):
    """Return the JSON object of the page that contains the word."""
    with open(os.path.join(BUILD, "man", page)) as file:
        text = file.read().replace("\\-", "-").replace("\\(dq", '"')
    found = [one for one in re.findall(r"^\.nf\n(.*?)^\.fi", text,
                                       re.S | re.M) if word in one]
    return json.loads(found[0])
