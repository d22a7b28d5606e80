"""English words of one family that the stemmer leaves apart: `marriage` is found by `marry`, `colour` by `color`.

Each row is a family; all its words get the stem of the first. Left out is what has a life of its own (`service`,
`office`), and whatever the stemmer brings together by itself.
"""

from collections.abc import Sequence

_DERIVED = """
absent absence|accurate accuracy|act actor actress|admit admission|advise advice adviser advisor|age aging ageing|
allergy allergic|analyze analyse analysis analyst|angry anger|anxious anxiety|apologize apology|apply application|
argue argument|art artist artistic|assume assumption|athlete athletic athletics|bake baker bakery|believe belief|
bore boredom|brave bravery|breathe breath|bury burial|cancel cancellation|champion championship|charity charitable|
chemical chemistry chemist|child childhood|choose choice|clean cleaner|clear clarity|climb climber|compare comparison|
compete competition competitor competitive|complain complaint|conclude conclusion|consume consumption consumer|
courage courageous|crime criminal|critic criticize criticism|curious curiosity|dance dancer|decide decision|
deep depth|defend defense defence|deliver delivery|democracy democratic|deny denial|depart departure|
describe description|destroy destruction|die death|dine dining|dirt dirty|discover discovery|distant distance|
divide division|dream dreamer|drive driver|drum drummer|economy economic|electric electrician electricity|
employ employee employer employment|energy energetic|enter entry entrance|equip equipment|evident evidence|
evolve evolution|exam examine examination|expand expansion|explain explanation|explode explosion|explore explorer|
extend extension|fail failure|fame famous|farm farmer|fit fitness|fluent fluency|fly flight|fortune fortunate|
free freedom|friend friendship|garden gardener|grief grieve|grow growth|guilt guilty|guitar guitarist|hate hatred|
health healthy|help helper|high height|hike hiker|hunger hungry|hunt hunter|ill illness|immigrate immigrant|
independent independence|injure injury|intend intention|introduce introduction|invade invasion|jealous jealousy|
journal journalist journalism|jog jogger|laugh laughter|law lawyer|lead leader|learn learner|library librarian|
listen listener|lonely loneliness|long length|lose loss|loyal loyalty|luck lucky|magic magician|maintain maintenance|
marry marriage|math maths mathematics mathematical|medicine medical medication|mix mixture|mountain mountaineer|
move movement mover|music musician|mystery mysterious|nature natural|nerve nervous|noise noisy|novel novelist|
obey obedience|occupy occupation|occur occurrence|offend offense offence|omit omission|paint painter|pay payment|
perform performer|permit permission|persuade persuasion|philosophy philosopher|
photo photograph photography photographer|piano pianist|plan planner|play player|poem poet poetry|poison poisonous|
politics political politician|poor poverty|pottery potter|pray prayer|pregnant pregnancy|print printer|
private privacy|produce production|program programme programmer|pronounce pronunciation|proud pride|prove proof|
race racer|rain rainy|read reader|recognize recognition|recover recovery|reduce reduction|relieve relief|
religion religious|rely reliable reliance|rent rental renter|repeat repetition|research researcher|resolve resolution|
reveal revelation|ride rider|risk risky|rob robber robbery|romance romantic|run runner|safe safety|sail sailor|
salt salty|satisfy satisfaction|science scientist scientific|sculpt sculpture sculptor|secure security|
sell sale seller|silent silence|simple simplicity simplify|sing singer|skate skater|ski skier|smoke smoker|snow snowy|
solve solution|speak speech speaker|spice spicy|stable stability|strong strength strengthen|
succeed success successful|sun sunny|supply supplier|support supporter|surf surfer|surgery surgeon surgical|
swim swimmer|sympathy sympathetic|taste tasty|teach teacher|therapy therapist|tour tourist tourism|tragedy tragic|
train trainer|travel traveler traveller|treat treatment|true truth|urgent urgency|use user|
vary variety variation various|victory victorious|violent violence|violin violinist|virus viral|visit visitor|
vote voter|walk walker|warm warmth|wealth wealthy|weigh weight|wide width|win winner|wind windy|wise wisdom|
wood wooden|work worker|write writer|young youth
"""
_PLACES = """
africa african|america american|asia asian|australia australian|austria austrian|belgium belgian|brazil brazilian|
britain british|canada canadian|china chinese|denmark danish|egypt egyptian|england english|europe european|
finland finnish|france french|germany german|greece greek|hungary hungarian|india indian|indonesia indonesian|
iran iranian|ireland irish|israel israeli|italy italian|japan japanese|kenya kenyan|korea korean|mexico mexican|
morocco moroccan|netherlands dutch|nigeria nigerian|norway norwegian|peru peruvian|portugal portuguese|russia russian|
scotland scottish|spain spanish|sweden swedish|switzerland swiss|taiwan taiwanese|thailand thai|tibet tibetan|
ukraine ukrainian|vietnam vietnamese
"""
_SPELLINGS = """
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


def families() -> Sequence[Sequence[str]]:
    """The families, each the words of one row."""
    return [row.split() for table in (_DERIVED, _PLACES, _SPELLINGS) for row in table.replace("\n", "").split("|")]
