"""Part of speech of a normalized word, from word lists and endings.

About four in five nouns, verbs, adjectives and adverbs of news sentences agree with the Link
Grammar parser.
"""

from readagain.text.vocab import SPECIAL_TOKENS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLOSED_CLASSES = {
    "determiner": _words(
        """
        the a an this that these those each every either neither some any no all both half such
        another what which whatever my your his her its our their whose several many few much more
        most less least other own same 's '
        """
    ),
    "pronoun": _words(
        """
        i you he she it we they me him us them mine yours hers ours theirs myself yourself himself
        herself itself ourselves yourselves themselves who whom somebody someone something anybody
        anyone anything nobody none nothing everybody everyone everything there
        """
    ),
    "preposition": _words(
        """
        of in on at by for from with without into onto upon about above across after against along
        amid among around as before behind below beneath beside besides between beyond despite down
        during except inside like near off out outside over past per since through throughout
        toward towards under until up via within amidst versus vs
        """
    ),
    "conjunction": _words(
        """
        and or but nor yet so because although though while whereas if unless whether than
        """
    ),
    "particle": _words(
        """
        to not n't 're 've 'll 'd 'm
        """
    ),
    "adverb": _words(
        """
        when where why how very too also just only even still already again never ever always often
        once twice soon later now then here away back ahead ago almost nearly however meanwhile
        instead perhaps rather quite well far together today tomorrow yesterday tonight
        """
    ),
    "number": _words(
        """
        one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
        hundred thousand million billion trillion dozen
        """
    ),
    "adjective": _words(
        """
        new old big small large little great good bad best worst better worse high low long short
        young early late last next first second third former top main major minor key full free
        open strong weak hard soft heavy light dark cold hot warm rich poor safe dead alive ill
        sick northern southern eastern western recent current present possible likely senior junior
        public private higher lower bigger larger smaller longer shorter older younger stronger
        weaker earlier faster slower latest biggest largest smallest highest lowest longest oldest
        youngest strongest alone tough tiny french british spanish foreign due sure ready able
        black white red green blue us-led nationwide
        """
    ),
}
AUXILIARIES = _words(
    """
    be am is are was were been being have has had having do does did doing will would shall should
    can could may might must ca wo
    """
)
# Base forms of verbs that are often nouns too.
VERBS = _words(
    """
    act address aid aim answer appeal approach arrest ask assault attack attempt award back ban bar
    battle bid blame block boost break brief build buy call campaign cause challenge change charge
    claim clash close comment control cost cover crash cut damage deal debate decline defeat delay
    demand design doubt draw drive drop drug end escape estimate exchange experience exit face fall
    fear feel fight file find fine finish fire flood follow force form gain get give go guard guide
    halt harm hear help hike hit hold hope host hunt hurt impact increase issue judge jump keep
    kick kill know lack land launch lead leave let limit link list live look lose make mark march
    match meet mount move murder name need offer order outline parade pass pay pick place plan play
    plead pledge point post praise press probe produce profit project promise protest prove pull
    push question quit race raid raise rally reach read rebuild recall record release remain repair
    reply report request rescue resign respond rest result return reveal review ride rise risk rule
    sail save say search see seek seize sell send serve set shake share shift shoot show shut sign
    sink slam slide slow sound spark speak spend spread spring stand start state stay stop storm
    strike study sue suffer support surge surprise survey suspect swim take talk target tell test
    thank think toll touch tour track trade train transfer travel treat trick trip try turn urge
    use value view visit vote wait walk want warn wash watch win wish wonder work worry write
    """
)
# Irregular verb forms, and base forms that are rarely nouns.
VERB_FORMS = _words(
    """
    used said told went gone came come became become took taken gave given made got gotten found
    held kept left lost met paid put ran run saw seen sent sold spent stood taught thought
    understood won wore worn wrote written began begun broke broken brought built bought caught
    chose chosen done drew drawn drove driven ate eaten fell fallen felt fled flew flown forgot
    forgotten fought froze frozen grew grown heard hid hidden knew known laid led lay lent lit
    meant rang rung rose risen sang sung sank sunk sat shot shook shaken slept slid spoke spoken
    sprang stole stolen struck swore sworn swept swam threw thrown woke woken wound accept achieve
    agree allow appear arrive assist avoid begin believe bring celebrate choose consider continue
    create decide deny deploy describe destroy die discuss eat elect ensure enter evacuate exist
    expect fail grow happen include inform invest involve join learn lie mean occur prepare prevent
    promote protect provide receive reduce refuse reject remember remove reopen require seem sing
    sit suggest teach understand
    """
)
# Nouns with the ending of another part of speech.
NOT_BY_ENDING = _words(
    """
    police office service justice practice notice price prize exercise surprise crisis bed shed
    speed seed feed king ring thing morning evening building wing meeting family supply assembly
    italy july ally bully music traffic clinic republic critic mechanic topic fabric arctic olympic
    table cable vegetable festival hospital capital animal signal metal oil goal material official
    trial arrival criminal journal arsenal rival proposal approval survival terminal olive native
    detective executive archive initiative relative perspective objective offensive
    """
)
# The longest matching ending decides; the stem before it has at least three letters.
ENDINGS = {
    "adverb": "ly",
    "adjective": """
        ous ful less ive able ible al ic ish ian ean ese -based -led -backed -born -owned -like
        -wide -old
    """,
    "verb": "ing ed ize ise ify",
    "noun": """
        tion sion ment ness ity ship ism ist ance ence ency ancy age hood dom ure er or ee tions
        sions ments ists ers ors ees ures ages ings
    """,
}
_BY_ENDING = {ending: part for part, endings in ENDINGS.items() for ending in endings.split()}
_MAX_ENDING = max(map(len, _BY_ENDING))
_MIN_STEM = 3


def part_of_speech(norm: str) -> str:
    """Return the most likely part of speech of a normalized word.

    >>> part_of_speech("the"), part_of_speech("###"), part_of_speech("quickly")
    ('determiner', 'number', 'adverb')
    """
    if norm in SPECIAL_TOKENS:
        return "other"
    if not any(c.isalnum() or c == "#" for c in norm):
        return "punctuation" if norm not in ("$", "%") else "other"
    for part, words in CLOSED_CLASSES.items():
        if norm in words:
            return part
    if norm in AUXILIARIES:
        return "auxiliary"
    if norm[0] == "#" and not any(c.isalpha() for c in norm):
        return "number"
    if norm in VERB_FORMS:
        return "verb"
    if norm in VERBS or _singular(norm) in VERBS:
        return "noun or verb"
    return _by_ending(norm)


def _singular(norm: str) -> str:
    """Strip the -s of a plural noun or a verb in the third person."""
    if norm.endswith("ies"):
        return norm[:-3] + "y"
    if norm.endswith(("shes", "ches", "sses", "xes", "zes", "oes")):
        return norm[:-2]
    return norm[:-1] if norm.endswith("s") and not norm.endswith("ss") else norm


def _by_ending(norm: str) -> str:
    if norm in NOT_BY_ENDING:
        return "noun"
    for length in range(min(_MAX_ENDING, len(norm) - _MIN_STEM), 1, -1):
        if norm[-length:] in _BY_ENDING:
            return _BY_ENDING[norm[-length:]]
    return "noun"
