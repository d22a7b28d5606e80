"""English verbs, nouns and adjectives whose forms no rule gives.

Forms that are everyday words of their own as well go to what they most often are (`saw`, `found`, `left`: the verbs),
or are left out (`bore`, `wound`, `lay`, `better`).

English words that are written in two ways, or shortened: `colour` is found by `color`, `television` by `tv`.

Each row is one word; all its forms get the stem of the first. `organise` and its like are told by their ending.
"""

from collections.abc import Sequence

_VERBS = """
arise arose arisen|awake awoke awoken|be is am are was were been being|bear borne|beat beaten|become became|
begin began begun|bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|
bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|
deal dealt|dig dug|do does did done doing|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|
eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|
give gave given|go goes went gone|grow grew grown|hang hung|have has had having|hear heard|hide hid hidden|hold held|
keep kept|kneel knelt|know knew known|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|lie lain|
light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|overcome overcame|pay paid|prove proven|
ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|
sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|
sit sat|sleep slept|slide slid|speak spoke spoken|spell spelt|spend spent|spill spilt|spin spun|spring sprang sprung|
stand stood|steal stole stolen|stick stuck|sting stung|strike struck|strive strove striven|swear swore sworn|
sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|
think thought|throw threw thrown|tread trod trodden|understand understood|undertake undertook undertaken|
undergo undergoes underwent undergone|wake woke woken|wear wore worn|weave wove woven|weep wept|win won|
withdraw withdrew withdrawn|write wrote written|rebuild rebuilt|rewrite rewrote rewritten|
overwrite overwrote overwritten|befall befell befallen|behold beheld|bid bade bidden|clothe clad|dwell dwelt|
forego forewent foregone|foresee foresaw foreseen|foretell foretold|forsake forsook forsaken|hew hewn|lay laid|
mislead misled|misspell misspelt|misunderstand misunderstood|mow mown|outdo outdid outdone|outgrow outgrew outgrown|
outrun outran|oversee oversaw overseen|oversleep overslept|overtake overtook overtaken|overthrow overthrew overthrown|
overeat overate|partake partook partaken|plead pled|redo redoes redid redone|remake remade|repay repaid|resell resold|
retake retook|rethink rethought|retell retold|rerun reran|reset resetting|shave shaven|shear shorn|slay slew slain|
sling slung|slink slunk|smell smelt|sow sown|speed sped|spit spat|spoil spoilt|stink stank stunk|
stride strode stridden|string strung|thrive throve|undo undoes undid undone|uphold upheld|unwind unwound|
unbind unbound|withhold withheld|withstand withstood|wring wrung|offset offsetting|upset upsetting|quit quitting|
input inputting
"""
_NOUNS = """
child children|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|person people|life lives|wife wives|
knife knives|leaf leaves|shelf shelves|half halves|wolf wolves|thief thieves|self selves|index indices|
matrix matrices|vertex vertices|criterion criteria|phenomenon phenomena|analysis analyses|crisis crises|
hypothesis hypotheses|basis bases|grandchild grandchildren|stepchild stepchildren|schoolchild schoolchildren|
godchild godchildren|louse lice|ox oxen|penny pence|calf calves|elf elves|loaf loaves|scarf scarves|hoof hooves|
dwarf dwarves|housewife housewives|midwife midwives|bookshelf bookshelves|yourself yourselves|radius radii|
cactus cacti|fungus fungi|nucleus nuclei|stimulus stimuli|syllabus syllabi|alumnus alumni|focus foci|
bacterium bacteria|curriculum curricula|datum data|memorandum memoranda|millennium millennia|stratum strata|
spectrum spectra|appendix appendices|vortex vortices|codex codices|diagnosis diagnoses|oasis oases|
parenthesis parentheses|synthesis syntheses|synopsis synopses|thesis theses|prognosis prognoses|neurosis neuroses|
formula formulae|larva larvae|antenna antennae|vertebra vertebrae|alga algae|nebula nebulae|bureau bureaux|
plateau plateaux|automaton automata|policeman policemen|policewoman policewomen|fireman firemen|
businessman businessmen|businesswoman businesswomen|salesman salesmen|fisherman fishermen|gentleman gentlemen|
snowman snowmen|chairman chairmen|freshman freshmen|postman postmen|craftsman craftsmen|sportsman sportsmen|
spokesman spokesmen|workman workmen|bus buses busses|gas gases|lens lenses|quiz quizzes|plus pluses|virus viruses|
bonus bonuses|campus campuses|status statuses|census censuses|passerby passersby
"""
_DEGREES = """
big bigger biggest|small smaller smallest|old older oldest elder eldest|young younger youngest|tall taller tallest|
short shorter shortest|long longer longest|fast faster fastest|slow slower slowest|hot hotter hottest|
cold colder coldest|warm warmer warmest|cool cooler coolest|cheap cheaper cheapest|high higher highest|
low lower lowest|easy easier easiest|happy happier happiest|sad sadder saddest|new newer newest|near nearer nearest|
close closer closest|strong stronger strongest|weak weaker weakest|hard harder hardest|soft softer softest|
large larger largest|deep deeper deepest|dark darker darkest|bright brighter brightest|heavy heavier heaviest|
healthy healthier healthiest|busy busier busiest|early earlier earliest|great greater greatest|wide wider widest|
quick quicker quickest|quiet quieter quietest|loud louder loudest|rich richer richest|poor poorer poorest|
safe safer safest|clean cleanest|dry drier driest|wet wetter wettest|fresh fresher freshest|kind kinder kindest|
nice nicer nicest|simple simpler simplest|smart smarter smartest|sweet sweeter sweetest|thick thicker thickest|
thin thinner thinnest|bad worse worst|far farther farthest further furthest|funny funnier funniest|
crazy crazier craziest|pretty prettier prettiest|ugly uglier ugliest|lucky luckier luckiest
"""


def _table(rows: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for row in rows.replace("\n", "").split("|"):
        base, *forms = row.split()
        table.update(dict.fromkeys(forms, base))
    return table


IRREGULAR = _table(_VERBS) | _table(_NOUNS) | _table(_DEGREES)
"""From a form to its base: `went` → `go`. `leaves` and `lives` go to the noun."""


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
