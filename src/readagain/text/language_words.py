"""Word lists of languages, for detection and sentence ends."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Frequent words without content, in lower case, by language code.
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": _words(
        """
        the of and to in a is that for it as was with be by on not he his but at are this have from
        or had an they which one you were her all their there we him been has when who will no more
        if out so said what up its about into than them can only other new some could these two may
        then do first any my now such like our over me after most made before also did many must
        through where how should because those she your would during against between while under
        says s t
        """
    ),
    "de": _words(
        """
        der die das und in zu den nicht von ist des sich mit dem dass er es ein ich auf so eine auch
        als an nach wie im für man aber aus durch wenn nur war noch werden bei hat wir was wird sein
        einen welche sind oder zur um haben einer mir über ihm diese einem ihr uns da zum kann doch
        vor dieser mich ihn du hatte seine mehr am denn nun unter sehr selbst schon hier bis habe
        ihre dann ihnen seiner alle wieder meine gegen vom ganz einzelnen wo muss ohne eines können
        sei ab wurde wurden sowie zwischen dabei seit gibt beim jetzt will soll keine kein
        """
    ),
    "fr": _words(
        """
        de la le et les des en un du une que est pour qui dans a à par plus pas au sur ne se ce il
        sont mais comme ou si leur y dont aux avec cette ces ont son sa ses elle nous vous je on
        tout fait été être aussi même bien sans peut deux entre après très avant depuis sous selon
        alors leurs ils elles lui ainsi encore contre chez vers où quand ni cet donc avait était
        sera lors afin l' d' qu' n' s' c' j' jusqu'
        """
    ),
    "it": _words(
        """
        di e il la che in a per un è del non una si da i con le alla della dei nel sono al come più
        anche ma gli ha lo delle o se dal ed su ad questo alle nella hanno ai dalla questa tra suo
        ci era degli stato loro cui sua chi dopo essere sul stata fra quando due sulla nei però
        sia senza prima molto dove solo fino poi ancora così contro suoi perché negli dai nelle
        quello mentre noi io mi ne lui lei ogni verso presso entro sarà l' d' un' dell' nell' dall'
        all' sull' c'
        """
    ),
    "es": _words(
        """
        de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le
        ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años
        hasta desde está mi porque qué sólo solo han yo hay vez puede todos así nos ni parte tiene
        él uno donde bien tiempo mismo ese ahora e otro después te otros aunque esa eso hace otra
        gobierno tan durante siempre tras según contra ella estos estas quien quién cómo será fueron
        """
    ),
    "pt": _words(
        """
        de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele
        das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela
        entre era depois sem mesmo aos ter seus quem nas me esse eles estão você tinha foram essa
        num nem suas meu às minha têm numa pelos elas havia seja qual será nós tenho lhe deles essas
        esses pelas este dele são após sobre contra durante onde ainda porque
        """
    ),
    "nl": _words(
        """
        de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit
        door over tot hij was ze naar heeft die hun worden wordt kan geen al wel of meer deze haar
        zich had wat we werd moet zou ik je dit onder zo kunnen veel na tegen hebben zij toen alle
        tussen want waar zal weer u mijn ons jaar nu twee omdat wie hoe toch alleen moeten zonder
        sinds tijdens volgens binnen eerste daar hier elkaar zei
        """
    ),
    "ru": _words(
        """
        и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой от так
        о для ты же все тот мочь вы такой его только или ещё еще бы себя один как уже до если при их
        её ее был была были было есть нет чтобы этом где когда после также со во об более под между
        лет года году без через может можно сейчас тем том этого будет будут кто чем ему нас
        """
    ),
    "sv": _words(
        """
        och i att det som en på är av för med till den har de inte om ett han men var jag sig från
        vi så kan man när år säger hon under också efter eller nu sin där vid mot ska skulle kommer
        ut får finns vara hade alla andra mycket än här då sedan över bara in blir upp även vad utan
        """
    ),
    "da": _words(
        """
        og i at det er en til på som af for med de den der har ikke et om han var sig men jeg fra vi
        så kan man når år hun efter eller nu sin ved mod skal ville kommer ud får være havde alle
        andre meget end her da siden over kun ind bliver op også hvad uden blev hvor mere efter
        """
    ),
    "no": _words(
        """
        og i at det er en til på som av for med de den har ikke et om han var seg men jeg fra vi så
        kan man når år sier hun etter eller nå sin der ved mot skal ville kommer ut får være hadde
        alle andre mye enn her da siden over bare inn blir opp også hva uten ble hvor mer etter
        """
    ),
    "pl": _words(
        """
        w i na z do się nie że to jest o jak ale po co tak za od jego dla przez był była było są czy
        ich być przy tym może już tylko oraz także które który która jej go ten ta te tego tej lub
        jednak pod nad bez roku lat został została ze we którzy bardzo gdy więc nawet przed między
        """
    ),
    "cs": _words(
        """
        a v se na je že z do o to i ve za k si jako po ale které který která by byl byla bylo jsou
        od pro tak podle jeho nebo už ze při až jen jak co také aby když více než před mezi let roku
        však není být ten jsem již jejich která může další proti pod bez také
        """
    ),
    "ro": _words(
        """
        de și în a la cu pe că nu o un se din este care pentru mai au fi ca al ale sunt fost sau dar
        lui ce prin după către dintre fără cel cea cei cele acest această acesta acum ani când
        """
    ),
    "ca": _words(
        """
        de la que i el a en els les del per un una amb és no al se ha dels com més o va aquest
        aquesta són però seva seu entre també fins des sobre sense molt ser han tot quan hi ja
        """
    ),
    "tr": _words(
        """
        ve bir bu için da de ile olarak daha çok en olan gibi sonra kadar ne ise ama o her var değil
        ya tarafından yeni iki önce büyük göre veya olduğu olduğunu şey mi ki ancak bunu içinde
        """
    ),
    "id": _words(
        """
        yang dan di dari untuk dengan pada dalam ini itu tidak akan ke oleh juga sebagai adalah ada
        telah bisa saat karena lebih kata atau para mereka kami saya dia tahun seorang menjadi sudah
        """
    ),
    "fi": _words(
        """
        ja on ei se että oli hän ovat joka kun myös mutta kuin niin jos tai sen vain jo nyt ole
        mukaan olla ollut sekä sitä vielä mitä siitä hänen kanssa vuoden jälkeen
        """
    ),
    "hu": _words(
        """
        a az és hogy nem is egy ez meg csak már volt de azt mint még ha van vagy el ki lesz minden
        szerint után pedig fel sem kell akkor ezt annak amely majd több lehet között
        """
    ),
    "vi": _words(
        """
        và của là có không được cho các một với trong này người những khi đã để cũng từ về ở đến
        như nhiều phải tại ra theo năm sẽ nhưng
        """
    ),
    "uk": _words(
        """
        і в не на що з у та як це до за від про для є був була було були його її вони ми ви але або
        також після при під між який яка які року років щоб якщо вже ще може
        """
    ),
    "bg": _words(
        """
        на и в да се за от е с че не са по това до при като но който която които след или бъде беше
        ще има няма също през само още между без
        """
    ),
}

# Letters that only a few languages with Latin or Cyrillic script use, and those languages.
SPECIAL_LETTERS: dict[str, tuple[str, ...]] = {
    "ß": ("de",),
    "ñ": ("es",),
    "¿": ("es",),
    "¡": ("es",),
    "ã": ("pt",),
    "õ": ("pt",),
    "œ": ("fr",),
    "ò": ("it",),
    "ì": ("it",),
    "å": ("sv", "da", "no"),
    "ø": ("da", "no"),
    "æ": ("da", "no"),
    "ł": ("pl",),
    "ż": ("pl",),
    "ę": ("pl",),
    "ą": ("pl",),
    "ř": ("cs",),
    "ě": ("cs",),
    "ů": ("cs",),
    "ă": ("ro", "vi"),
    "ț": ("ro",),
    "ș": ("ro",),
    "ğ": ("tr",),
    "ı": ("tr",),
    "ő": ("hu",),
    "ű": ("hu",),
    "đ": ("vi",),
    "ơ": ("vi",),
    "ы": ("ru",),
    "э": ("ru",),
    "і": ("uk",),
    "ї": ("uk",),
    "є": ("uk",),
    "ъ": ("bg",),
}


# The next three dictionaries hold abbreviations by language code. Abbreviations in lower case are
# also matched when capitalized.

# Abbreviations that never end a sentence.
NEVER_LAST: dict[str, frozenset[str]] = {
    "de": _words(
        """
        Hr Hrn Fr Frl Dr Prof Dipl Ing Mag St Str Bf Hbf Abs Abt Anm Aufl Bd Bde Bsp bzw ca evtl ggf
        gez geb gest insb inkl exkl sog vgl zzgl zzt bspw dgl einschl Hrsg hrsg Kap Lt Gen Hptm Obst
        Univ Verf Vors Ziff Nr Nrn resp max min phil rer nat med jur pol Präs dt franz engl ehem
        Eidg eidg iur div mind durchschn bes betr urspr röm rd verh vorm St hl Hl kath evang ev
        """
    ),
    "fr": _words(
        """
        M MM Mgr Pr Prof Dr Me St Ste cf env ex av apr bd boul pl éd réf tél hab p pp janv févr avr
        juill sept oct nov déc adj gén col lt sgt
        """
    ),
    "it": _words(
        """
        sig sigg dott dr prof iur med phil avv ing arch geom rag sen cav comm mons don gen col ten
        magg s ss fam spett egr gent cfr es ed tel nr n v ca st d.lgs ven rev cpv pref cons pres
        segr amm resp dir l'on dell'on all'on dall'on
        """
    ),
    "es": _words(
        """
        Sr Sra Srta Sres Sras Dr Dra Dres D Dña Da Prof Profa Lic Ing Arq Gral Cnel Cap Tte Sgto
        Mons Fr Hno Hna S Sto Sta Excmo Excma Ilmo Ilma Rvdo pág págs núm núms tel tlf av avda pza
        ctra cía aprox máx mín p pp EE
        """
    ),
    "pt": _words(
        """
        Sr Sra Srs Sras Dr Dra Drs D Prof Profa Eng Arq Gen Cel Cap Ten Sgt Mons Fr S Sto Sta Exmo
        Exma Ilmo Rev pág págs art arts núm cap fig vol ed tel av aprox máx mín p pp
        """
    ),
    "nl": _words(
        """
        dhr mevr mw mr dr drs prof ir ing ds st nr nrs blz pag art bijv bv ca evt excl incl jl max
        min o.a resp t.a.v vgl zgn vnl oa gen kol kap lt
        """
    ),
    "ru": _words(
        """
        г ул пр просп пл пер д корп кв стр им см ср т тов гр акад проф доц чл св о оз р обл респ
        тыс напр рис табл гл ст п пп англ нем фр лат рус др
        """
    ),
}

# Abbreviations that do not end a sentence if a number follows.
BEFORE_NUMBERS: dict[str, frozenset[str]] = {
    "de": _words("Art Fig Abb Tab Tel S Bl Rn Rz Kl Jg H Gl"),
    "fr": _words("no nos n t al ch par fr art fig chap vol cap"),
    "it": _words("lett c comma tab all cl fr art artt pag pagg par fig cap vol"),
    "es": _words("nº no n.º n t km tab párr art arts cap fig vol ed"),
    "pt": _words("nº n.º n t km tab"),
    "nl": _words("afb tab tel p hfst"),
    "ru": _words("тел с ч"),
}

# Abbreviations that end a sentence only if the next word often begins one.
SOMETIMES_LAST: dict[str, frozenset[str]] = {
    "de": _words(
        """
        usw etc Chr Co Mio Mrd Mia Tsd Jh Jhd Std Min Sek Mo Di Mi Do Fr Sa So Jan Feb Mär Apr Jun
        Jul Aug Sep Sept Okt Nov Dez km kg
        """
    ),
    "fr": _words("etc Cie Co J.-C mio mrd min sec"),
    "it": _words("ecc etc C Co mln mld min sec gen feb mar apr mag giu lug ago set ott nov dic"),
    "es": _words("etc Cía Co Ltda mill UU CC OO AA FF RR JJ Ud Uds Vd ene feb mar abr nov dic"),
    "pt": _words("etc Cia Ltda mil jan fev mar abr nov dez"),
    "nl": _words("enz etc e.d jan feb mrt apr jun jul aug sep sept okt nov dec"),
    "ru": _words("гг в вв руб коп млн млрд мин сек кг"),
}

# A number with a full stop is an ordinal, not the end of a sentence, if the name of a month
# follows: "am 3. Oktober".
MONTHS: dict[str, frozenset[str]] = {
    "de": _words(
        """
        Januar Jänner Februar Feber März April Mai Juni Juli August September Oktober November
        Dezember Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez
        """
    ),
}

# A number of three or more digits with a full stop is an ordinal only after one of these words:
# "zum 100. Mal".
BEFORE_ORDINALS: dict[str, frozenset[str]] = {
    "de": _words(
        """
        der die das den dem des am im vom zum zur beim ans ein eine einen einem einer eines ihr ihre
        ihren ihrem ihrer sein seine seinen seinem seiner unser unsere unseren unserem jeder jede
        jedes jeden jedem dieser diese dieses diesen diesem mein meine meinen meinem
        """
    ),
}
