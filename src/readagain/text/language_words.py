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
        sei ab wurde wurden sowie zwischen dabei seit gibt beim jetzt will soll keine kein mal
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

# Languages of the Latin and Cyrillic scripts that have a letter, where few have it.
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
