"""English words that are written in two ways, or shortened: `colour` is found by `color`, `television` by `tv`.

Each row is one word; all its forms get the stem of the first. `organise` and its like are told by their ending.
"""

from collections.abc import Sequence

_ROWS = """
analyze analyse|apologize apologise|
color colour|favor favour|favorite favourite|honor honour|neighbor neighbour|neighborhood neighbourhood|
behavior behaviour|flavor flavour|humor humour|labor labour|rumor rumour|harbor harbour|savor savour|savory savoury|
vapor vapour|odor odour|vigor vigour|endeavor endeavour|armor armour|glamor glamour|parlor parlour|tumor tumour|
savior saviour|ardor ardour|candor candour|clamor clamour|splendor splendour|center centre|theater theatre|
meter metre|liter litre|fiber fibre|caliber calibre|somber sombre|kilometer kilometre|centimeter centimetre|
millimeter millimetre|specter spectre|luster lustre|license licence|practice practise|gray grey|pretense pretence|
catalog catalogue|dialog dialogue|analog analogue|monolog monologue|airplane aeroplane|aluminum aluminium|
mom mum mommy mummy|pajamas pyjamas|maneuver manoeuvre|pediatric paediatric|pediatrician paediatrician|anemia anaemia|
encyclopedia encyclopaedia|fetus foetus|gynecology gynaecology|leukemia leukaemia|orthopedic orthopaedic|
diarrhea diarrhoea|estrogen oestrogen|esthetic aesthetic|plow plough|skeptic sceptic|cozy cosy|donut doughnut|
mustache moustache|mold mould|smolder smoulder|sulfur sulphur|jewelry jewellery|curb kerb|tire tyre|
whiskey whisky|yogurt yoghurt|ax axe|artifact artefact|fulfill fulfil|skillful skilful|enroll enrol|
installment instalment|omelet omelette|dad daddy|grandma grandmother granny grandmom|grandpa grandfather granddad|
bike bicycle|phone telephone|tv television|fridge refrigerator|flu influenza|vet veterinarian veterinary
"""
_IZED = frozenset(
    """
    actual agon alphabet american amort apolog author brutal burglar capital categor cauter central character civil
    colon computer critic crystall custom demon digit econom empath energ equal familiar fantas fertil final formal
    fossil general global harmon hospital hypnot ideal idol immun individual industrial initial institutional ital
    jeopard legal liberal local magnet marginal material maxim mechan memor mesmer minim mobil modern monet monopol
    moral motor national natural neutral normal optim organ ostrac patron penal personal plagiar plural polar popular
    pressur priorit privat public pulver random rational real recogn reorgan revital revolution romantic sanit satir
    scrutin sensational sensit serial sexual social special stabil standard steril subsid summar symbol sympath
    synchron system terror theor token tranquil traumat trivial union urban util vandal vapor verbal victim virtual
    visual vocal western
    """.split()  # noqa: SIM905
)
_ISED = ("ised", "ises", "iser", "ising", "isers", "isable", "isation", "isations", "ise")


def with_z(word: str) -> str:
    """`organisation` → `organization`; other words as they are. Only verbs that can be written either way."""
    at = word.rfind("is")
    if at > 2 and word[at:] in _ISED and word[:at] in _IZED:
        return f"{word[:at]}iz{word[at + 2 :]}"
    return word


def spellings() -> Sequence[Sequence[str]]:
    """The words, each with all its forms."""
    return [row.split() for row in _ROWS.replace("\n", "").split("|")]
