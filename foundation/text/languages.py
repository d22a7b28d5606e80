"""Which language a text is in, by its function words, and the stems of that language.

Stems are those of the Snowball project (package snowballstemmer, whose version is pinned: stems are stored). A text
that is not clearly in another language is taken as English, whose stems harm nobody.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock
from typing import NamedTuple

from foundation.text.folding import LONGEST, fold, lowercase
from foundation.text.stemming import stem

_WORDS = {
    "german": """der die das und ist nicht ich du er sie es wir ihr ein eine einen einem einer zu mit auf für von
        dem den des im am auch habe hast hat haben war waren wird wurde werden kann können noch nur aber oder wenn
        dass weil wie wo wer mein meine dein sein seine unser nach bei aus um über unter schon sehr mir mich dir
        dich uns kein keine doch gibt diese dieser""",
    "french": """le la les un une des du de et est pas je tu il elle nous vous ils elles ne que qui dans pour sur
        avec au aux ce cette ces mon ma mes ton ta son sa ses leur mais ou où donc être avoir été était ai suis es
        sont sommes avez avons très plus si comme quand chez par fait bien tout tous aussi moi toi lui""",
    "spanish": """el la los las un una unos de del y es no yo tú él ella nosotros ellos que en por para con al lo se
        su sus mi mis tu me te le les pero o como cuando donde dónde qué cuándo está están estoy estaba fue era son
        ser estar muy más ya hay tengo tiene también porque esto este esta eso sí""",
    "italian": """il lo la i gli le un una uno di del della dei delle e è non io tu lui lei noi voi loro che in per
        con al alla su mi ti si ci ma o come quando dove sono sei siamo era ho hai ha abbiamo hanno molto più già
        questo questa quello perché anche nel nella dal dalla""",
    "portuguese": """o a os as um uma de do da dos das e é não eu você ele ela nós eles que em no na nos nas por
        para com ao se seu sua meu minha mas ou como quando onde foi era são ser estar está estou muito mais já tem
        tenho também porque isso este esta isto""",
    "dutch": """de het een en is niet ik jij je hij zij ze wij we jullie van in op te met voor aan dat die dit deze
        er maar of als dan ook nog wel naar bij uit om over heb hebt heeft hebben was waren zijn ben wordt werd kan
        kunnen mijn jouw zijn haar ons geen waar wat wie hoe wanneer omdat heel veel""",
    "swedish": """och är inte jag du han hon vi ni de den det ett en att som på i med för av till från men eller om
        när var vad hur har hade kan ska skulle min mitt mina din sin också mycket bara så där här mig dig oss ingen""",
    "danish": """og er ikke jeg du han hun vi de den det et en at som på i med for af til fra men eller om når var
        hvad hvor hvordan har havde kan skal skulle min mit mine din sin også meget bare så der her mig dig os ingen
        blev noget""",
    "norwegian": """og er ikke jeg du han hun vi de den det et en å at som på i med for av til fra men eller om når
        var hva hvor hvordan har hadde kan skal skulle min mitt mine din sin også veldig bare så der her meg deg oss
        ingen ble noe""",
    "finnish": """ja on ei minä sinä hän me te he se en olen olet oli ovat että mutta tai jos kun missä mitä mikä
        kuka miten minun sinun hänen tämä tuo nyt vain myös niin kuin kanssa jo vielä ole""",
    "russian": """и в во не что он она я ты мы вы они на с со как а то все но да к у же за бы по только мне меня был
        была было были есть это этот для от из о об где когда если или уже очень мой моя твой нас вас его её их так
        тоже еще ещё""",
    "turkish": """ve bir bu şu o ben sen biz siz onlar için ile de da mi mı ne değil var yok ama veya çok daha gibi
        kadar sonra önce nerede nasıl neden benim senin onun bana sana""",
    "polish": """i w we nie jest się na z ze do to że co jak ale lub ja ty on ona my wy oni mój moja twój był była
        było są być mam masz ma dla po od przez tylko już jeszcze gdzie kiedy kto bardzo też czy""",
    "czech": """a v ve ne je se na s z do to že co jak ale nebo já ty on ona my vy oni můj moje tvůj byl byla bylo
        jsou být mám máš má pro po od přes jen už ještě kde kdy kdo velmi také jsem jsi""",
    "hungarian": """a az és nem van hogy én te ő mi ti ők egy ez ezt azt is de vagy ha mert mint csak már még nagyon
        hol mikor ki volt lesz vagyok vannak nekem neked""",
    "romanian": """și si nu este sunt eu tu el ea noi voi ei ele un o de la în pe cu pentru din că să ce care cum
        dar sau dacă când unde foarte mai am ai are avem au fost era mea meu""",
    "catalan": """el la els les un una de del i és no jo tu ell ella nosaltres que en per amb al els seu seva meu
        meva però o com quan on molt més ja hi ha té també perquè això aquest aquesta està""",
    "arabic": """في من على إلى عن مع هذا هذه ذلك التي الذي ما لا لم لن هل كان كانت هو هي أنا نحن أنت هم إن أن أو ثم
        قد كل بعد قبل عند كيف متى أين لماذا""",
    "persian": """و در به از که این آن را با است بود برای تا بر من تو او ما شما آنها هم نه یا اگر چه کجا چرا کی خیلی
        می نمی شد شده""",
    "hindi": """है हैं था थी थे और का की के को में से पर यह वह मैं तुम आप हम नहीं क्या कब कहाँ कैसे क्यों एक भी तो
        लिए मेरा मेरी आपका हो कर""",
    "indonesian": """yang dan di ke dari ini itu tidak saya aku kamu dia kami kita mereka adalah untuk dengan pada
        akan sudah belum bisa ada juga atau tapi karena kalau apa siapa kapan dimana bagaimana sangat""",
    "english": """the a an and or but of to in is it you that was for on are with as i his they at be this have from
        had by not what all were we when your can there she do how their if will he my me so no her him our just
        like about out up them then than been has would more who its did get got where which""",
}
_SCRIPTS = {"greek": "[\u0370-\u03ff\u1f00-\u1fff]{2}", "armenian": "[\u0531-\u0587]{2}", "tamil": "[\u0b85-\u0bcd]{2}"}
"""Languages that have a script for themselves."""

_IS_ENGLISH = """
    die war hat man den was is in an am so will a no me he on or as do over of are we i at to be el son sin
    main pour sur tout fin sent plus fond bin also wild art gut du la les per con ma pa ha hay lo le des ton ai
    bar era mine fra men her os for hun det ten te se mi si sole solo dove come mail may van met een hoe how bad
    op mes car tu es et and de di da il un en e o y ne al by my far care take dig biz com fur pro mir jen io ios
    ki tat tan hade sera ante"""
"""Function words of others that are English words, or names and letters there: alone they tell nothing."""

LANGUAGES = tuple(name for name in (*_WORDS, *_SCRIPTS) if name != "english")


class _LanguageProfile(NamedTuple):
    """What a language is known by, made when the first text is looked at: a start of the program has no time for it.

    `telling` are the words that make a text worth a closer look, `owners` the languages of each function word.
    """

    words: dict[str, frozenset[str]]
    telling: frozenset[str]
    owners: dict[str, tuple[str, ...]]
    letters: re.Pattern[str]
    alphabets: re.Pattern[str]


@cache
def _known() -> _LanguageProfile:
    words = {name: frozenset(words_of_language.split()) for name, words_of_language in _WORDS.items()}
    owners: dict[str, tuple[str, ...]] = {}
    for name, own_words in words.items():
        for word in own_words:
            owners[word] = (*owners.get(word, ()), name)
    return _LanguageProfile(
        words,
        frozenset(owners) - frozenset(_IS_ENGLISH.split()) - words["english"],
        owners,
        re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0963][^\W\d_]*)*"),
        re.compile(f"[{_ALPHABETS}]"),
    )


_STEMMING = Lock()
"""A stemmer holds the word that it is at, and is asked by more than one thread."""

_ALPHABETS = "\u00df-\u024f\u0370-\u058f\u0600-\u06ff\u0900-\u097f\u0b80-\u0bff\u1f00-\u1fff"
"""Letters with which another language is likely, as a range."""
_LOOKED_AT = 2000  # characters of a text: its language shows by then
_LEAST_SHARE = 0.15  # of its words
_LEAST_HITS = 2
_AHEAD = 1.3  # times the next language's score

_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def is_chinese(text: str) -> bool:
    """Whether the text is written in Chinese, Latin names and codes within it aside; not Japanese or Korean."""
    if _KANA_OR_HANGUL.search(text):
        return False
    return (characters := len(_HAN.findall(text))) > 0 and characters >= 2 * len(_LATIN_WORD.findall(text))


def language_of(text: str) -> str:
    """`german`, for instance; "" for English, and wherever it is not clear."""
    start, known = text[:_LOOKED_AT].lower(), _known()
    if known.telling.isdisjoint(start.split()) and (start.isascii() or not known.alphabets.search(start)):
        return ""
    words = known.letters.findall(start)
    if not start.isascii() and (language := _by_script(start, len(words))):
        return language
    return _by_words(words)


def _by_words(words: list[str]) -> str:
    owners, scores = _known().owners, dict[str, float]()
    hits: dict[str, int] = {}
    for word in words:
        names = owners.get(word, ())
        for name in names:
            scores[name] = scores.get(name, 0.0) + 1 / len(names)
            hits[name] = hits.get(name, 0) + (len(word) > 1)  # a letter alone may be anything
    if not scores:
        return ""
    best, *others = sorted(scores, key=lambda name: (-scores[name], name))
    if best == "english" or hits[best] < max(_LEAST_HITS, _LEAST_SHARE * len(words)):
        return ""
    is_ahead = not others or scores[best] >= _AHEAD * scores[others[0]]
    return best if is_ahead else ""


def _by_script(text: str, words: int) -> str:
    for name, pattern in _SCRIPTS.items():
        if len(re.findall(pattern, text)) * 2 > words:
            return name
    return ""


@lru_cache(maxsize=1 << 13)
def stem_in(language: str, word: str) -> str:
    """The term of a word of that language, folded. Function words stay as they are, so that they are known as such."""
    low = lowercase(word.replace("I", "ı").replace("İ", "i") if language == "turkish" else word)
    if low in _known().words.get(language, ()):
        return fold(low)[:LONGEST]
    with _STEMMING:
        stemmed = _stemmer(language)(low)
    return fold(stemmed)[:LONGEST]


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    made = getattr(import_module(f"snowballstemmer.{language}_stemmer"), f"{language.capitalize()}Stemmer")()
    stem_word: Callable[[str], str] = made.stemWord
    return stem_word


def function_terms() -> Iterable[str]:
    """The function words that no English word is, as `stem_in` gives them, and as English stems."""
    english = {*_IS_ENGLISH.split()}
    folded = {*map(fold, _known().telling)} - english
    return folded | {stem(word) for word in folded if word.isascii() and word.isalpha()} - english
