"""Names that programs give themselves to break whoever shows, stores or forwards them."""

NAMES = (
    'quote"',
    "back\\slash",
    "line\n# HELP forged",
    "return\r\n",
    "escape\x1b]0;t\x07",
    "nel\x85\u2028\u2029",
    "bidi\u202eab\u2066",
    "zero\u200b\ufeff",
    "not utf-8 \ufffd",
    '},evil="1',
    "nul\0",
    " blanks ",
    "🧵 é e\u0301",
    "\\n is no line",
)
"""All differ. What is not UTF-8 has become U+FFFD in the collector."""
