"""Word lists of the trimming rules."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Hedge Trimmer keeps other determiners: no, this, every, their.
DETERMINERS = _words("a an the")

AUXILIARIES = _words(
    """
    is are was were be been being has have had do does did will would may might can could should
    must shall
    """
)

# Link Grammar's tags of names: women, men, either, places, months.
NAME_TAGS = _words("f m b l i")

CONJUNCTIONS = _words("and or but &")

PUNCTUATION = _words(", ; : -- - . ? ! ...")

TIME_WORDS = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow tonight
    january february march april may june july august september october november december
    jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. mon. tue. wed. thu. fri. sat. sun.
    morning afternoon evening night noon midnight weekend week weeks month months year years
    day days hour hours minute minutes decade decades a.m. p.m. ago earlier later
    """
)

# Words that may occur in a time expression.
AROUND_TIME = _words(
    """
    a an the this that last next past late early on in at by since until during after before for
    over from to of and recent few several first second third same one two three four five six
    seven eight nine ten
    """
)
