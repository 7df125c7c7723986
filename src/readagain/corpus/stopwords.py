"""English words that carry no content, for the filters that compare headline and text."""

_STOPWORDS = """
    a about above after again against all also am an and any are aren't as at be because been
    before being below between both but by ca can cannot could did do does doing down during each
    few for from further had has have having he her here hers herself him himself his how i if in
    into is it its itself just may me might more most must my myself n't no nor not now of off on
    once one only or other our ours ourselves out over own same shall she should so some such than
    that the their theirs them themselves then there these they this those through to too under
    until up upon us very was we were what when where which while who whom whose why will with
    within without would yet you your yours yourself yourselves 's 're 've 'll 'd 'm s t
"""
STOPWORDS = frozenset(_STOPWORDS.split())

# Common in English and no word of the other languages that news feeds mix in.
_ENGLISH_MARKS = """
    the of and to for with that is was are were has have had this from his her its their they it
    by at be been will would who which what when after before over than more about into not as but
    says said new how why you your we our can could first out up all one two
"""
ENGLISH_MARKS = frozenset(_ENGLISH_MARKS.split())
