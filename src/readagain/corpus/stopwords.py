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

# What tells English from the languages that news feeds mix in: small words of either kind.
_ENGLISH_MARKS = """
    the of and to for with that is was are were has have had this from his her its their they it
    by at be been will would who which what when after before over than more about into not as but
    says said new how why you your we our can could first out up all one two a an in on during
    against between while under he she or if
"""
ENGLISH_MARKS = frozenset(_ENGLISH_MARKS.split())
_FOREIGN_MARKS = """
    de la le les des du et est dans pour au aux sur une un qui que ne pas avec ont à
    el los las del y es por para con una su se lo al como más en
    o os do da dos das e em um uma não com na no ao mais foi são
    der die das und ist nicht den dem von mit ein eine auf für im am zu hat sich
    il di che per della nel sono gli è
    het een van voor op dat zijn och att det som är på och på og
    yang dan di dari untuk dengan pada dalam ini itu
"""
FOREIGN_MARKS = frozenset(_FOREIGN_MARKS.split())
