"""Word lists for sentence splitting and truecasing."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Abbreviations that never end a sentence.
NEVER_LAST = _words(
    """
    Mr Mrs Ms Mx Dr Drs Prof Profs Messrs Mme Mlle Fr Sr Sra Herr Hon Rev Revd Pres Vice Amb
    Gen Lt Col Maj Capt Cpt Cmdr Comdr Cdr Adm Brig Sgt Cpl Pvt Pfc Spc Det Insp Supt Const Ofc
    Sen Sens Rep Reps Gov Govs Sec Secy Ald Atty Asst Assoc Dep Dir Mgr Treas Supvr Rt Ven Msgr
    Mt Ft Pt Hwy Rte vs v viz cf ca approx Cie incl esp resp
    MR MRS MS DR PROF GEN SEN REP GOV LT COL CAPT SGT REV VS
    """
)

# Abbreviations before a number, ordinary words otherwise ("No. He left.").
BEFORE_NUMBERS = _words(
    """
    No Nos no nos Art art Arts Ch ch Chap chap Sec sec Fig Figs fig figs Eq Eqs eq eqs Ref Refs
    Tab Vol Vols vol vols p pp P Rs rs Sch para paras ft Op op NO
    """
)

MONTHS_AND_DAYS = _words(
    """
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun
    """
)

# Abbreviations that end a sentence if the next word often begins one.
SOMETIMES_LAST = _words(
    """
    Inc Corp Co Cos Ltd Bros Jr Esq Bhd Pty Pte Plc LLC Assn Intl Mfg Natl Univ Inst Dept Govt
    St Ste Ave Av Blvd Rd Dr Ln Pl Sq Apt Bldg
    al etc dept est min max sq tbsp tsp lb lbs oz govt ext tel misc
    Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Kans Ky La Mass Md Mich Minn Mo Mont
    Neb Nebr Nev Okla Ore Oreg Pa Penn Tenn Tex Va Vt Wash Wis Wisc Wyo Alta Man Ont Que Sask
    """
)

# Words that continue a time of day after "a.m." and "p.m.".
AFTER_TIME_OF_DAY = _words(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Tues Wed Thu Thur Thurs Fri
    Sat Sun Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec January February March April May June
    July August September October November December
    EST EDT ET CST CDT CT MST MDT MT PST PDT PT GMT BST UTC CET CEST EET IST PKT JST AEST AEDT WIB
    Eastern Central Mountain Pacific Greenwich
    """
)

# Words that begin sentences more often than they follow an abbreviation or an initial.
STARTERS = _words(
    """
    A According Additionally After Afterwards Again Against All Almost Along Already Also Although
    Among An And Another Any Anyone As At Because Before Both But By Can Could Despite Did Do Does
    During Each Earlier Either Even Every Everyone Few Finally First For Former From Further Had
    Has Have He Her Here Hers His How However I If In Indeed Initially Instead Is It Its Just Last
    Later Like Many Maybe Meanwhile Moreover More Most Much My Nearly Neither Never Nevertheless
    Next No Nobody None Nor Not Nothing Now Of Often On Once One Only Or Other Others Our Over
    Perhaps Police Previously Rather Recently Several She Should Similarly Since So Some Someone
    Soon Still Such Than That The Their Them Then There Therefore These They Thirdly This Those
    Though Through Throughout Thus Today Together Tomorrow Too Two Three Under Unless Unlike Until
    Up Upon Was We Were What When Whenever Where Whereas Whether Which While Who Whose Why Will
    With Within Without Would Yesterday Yet You Your
    """
)

# Names with an exclamation mark.
WITH_EXCLAMATION = _words("Yahoo Jeopardy Yum Panic Oklahoma Taboo")

REPORTING_VERBS = _words(
    """
    said says asked asks cried shouted replied added wrote writes told yelled exclaimed wondered
    tweeted joked demanded insisted quipped declared
    """
)

# Words that always have capitals.
ALWAYS_CAPITAL = _words(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July
    August September October November December Christmas Easter Ramadan
    Africa African America American Americans Asia Asian Europe European
    Afghanistan Afghan Algeria Argentina Australia Australian Austria Bangladesh Belgium Brazil
    Brazilian Britain British Bulgaria Canada Canadian Chile Chinese Colombia Croatia Cuba Cuban
    Czech Denmark Danish Dutch Egypt Egyptian England English Ethiopia Finland France French German
    Germany Ghana Greece Greek Hungary Iceland India Indian Indonesia Indonesian Iran Iranian Iraq
    Iraqi Ireland Irish Israel Israeli Italian Italy Japan Japanese Kashmir Kenya Korea Korean
    Kuwait Lebanon Libya Malaysia Mexican Mexico Morocco Myanmar Nepal Netherlands Nigeria Nigerian
    Norway Pakistan Pakistani Palestinian Palestinians Peru Philippines Poland Portugal Qatar
    Romania Russia Russian Russians Scotland Scottish Serbia Singapore Somalia Spain Spanish Sudan
    Sweden Swedish Swiss Switzerland Syria Syrian Taiwan Thai Thailand Tunisia Turkish Ukraine
    Ukrainian Venezuela Vietnam Wales Yemen Zimbabwe
    Athens Baghdad Beijing Berlin Brussels Cairo Chicago Delhi Geneva Islamabad Jakarta Jerusalem
    Kabul Karachi London Madrid Moscow Mumbai Paris Rome Sydney Tehran Tokyo Washington
    Christian Christians Islam Islamic Jewish Muslim Muslims Olympic Olympics
    I U.S. U.K. U.N. E.U. D.C. UN EU NATO NASA FBI CIA UEFA FIFA NBA NFL BBC CNN GDP CEO AI
    """
)

# Words in lower case in headlines unless first or last.
MINOR = _words(
    """
    a an and as at but by for from in into nor of off on onto or over per so the to up via vs vs.
    with yet
    """
)
