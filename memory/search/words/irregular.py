"""English verbs and nouns whose forms no rule gives. Forms that are everyday words of their own as well go to what
they most often are (`saw`, `found`, `left`: the verbs), or are left out (`bore`, `wound`, `lay`)."""

_VERBS = """
arise arose arisen|awake awoke awoken|be is am are was were been being|bear borne|beat beaten|become became|
begin began begun|bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|
bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|
deal dealt|dig dug|do does did done doing|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|
eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|
give gave given|go goes went gone|grow grew grown|hang hung|have has had having|hear heard|hide hid hidden|
hold held|keep kept|kneel knelt|know knew known|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|
lie lain|light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|overcome overcame|pay paid|
prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|
send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|
sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spell spelt|spend spent|spill spilt|spin spun|
spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck|strive strove striven|
swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|
tell told|think thought|throw threw thrown|tread trod trodden|understand understood|undertake undertook undertaken|
undergo undergoes underwent undergone|wake woke woken|wear wore worn|weave wove woven|weep wept|win won|
withdraw withdrew withdrawn|write wrote written|rebuild rebuilt|rewrite rewrote rewritten|
overwrite overwrote overwritten
"""
_NOUNS = """
child children|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|person people|life lives|wife wives|
knife knives|leaf leaves|shelf shelves|half halves|wolf wolves|thief thieves|self selves|index indices|
matrix matrices|vertex vertices|criterion criteria|phenomenon phenomena|analysis analyses|crisis crises|
hypothesis hypotheses|basis bases|grandchild grandchildren
"""


def _table(rows: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for row in rows.replace("\n", "").split("|"):
        base, *forms = row.split()
        table.update(dict.fromkeys(forms, base))
    return table


IRREGULAR = _table(_VERBS) | _table(_NOUNS)
"""From a form to its base: `went` → `go`. `leaves` and `lives` go to the noun."""
