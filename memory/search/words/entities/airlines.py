"""Two-character codes of airlines."""

from typing import Final

from memory.search.words.entities.looking import listed

CLEAR: Final = listed(
    "BA CA MU CZ UA DL LH AF KL EK QR QF SQ CX JL NH KE OZ TK LX IB AY SK SU EY TG VN NZ HU WN EI JQ KQ AA MH"
)
"""Airlines whose code and three digits mean nothing else."""

AIRLINES: Final = CLEAR | listed(
    "AC AI AK AM AS AT AV AZ B6 BI BR BT CI CM D7 DY ET F9 FJ FM FR FZ G3 GA GF GS HA HO HX HY IX JD JO JU KC KM KN KU"
    " KX LA LO LY MD ME MF MK MS NK NS OD OS PC PG PK PR PX PY QW QZ RJ RO S7 SA SC SN SV TN TO TP TR TV U2 UL UX VA VJ"
    " VS VY W6 WB WF WS WY XJ XQ ZH 3K 3U 5J 6E 8L 9C"
)
