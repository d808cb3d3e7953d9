/* SPDX-License-Identifier: MIT */
#pragma once

/* Names of the color themes, and the background that each expects; no theme draws one. */
#define THEME_LIST(X)                               \
	X(DARK, "dark", "for a dark background")    \
	X(LIGHT, "light", "for a light background") \
	X(CONTRAST, "contrast", "for a dark background, nothing faint")
