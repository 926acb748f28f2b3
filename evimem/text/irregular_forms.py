"""English forms that no suffix rule brings together: "bought" and "buy", "children" and "child"."""

from __future__ import annotations

# Forms that are also other words (rose, bore, wound, bound, lay, leaves, lives) are left out.
_FORMS = """
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bite bit bitten;
bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought;
catch caught; choose chose chosen; come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt;
drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found;
flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; get got gotten; give gave given; go goes went gone; grow grew grown; hang hung; hear heard;
hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lead led; lean leant; leap leapt; learn learnt;
leave left; lend lent; light lit; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden;
ring rang rung; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken;
shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
slide slid; speak spoke spoken; speed sped; spend spent; spill spilt; spin spun; spring sprang sprung; stand stood;
steal stole stolen; stick stuck; sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum;
swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; wake woke woken; wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew;
write wrote written;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese; wife wives;
knife knives; half halves; shelf shelves; loaf loaves; wolf wolves; thief thieves; scarf scarves
"""
BASE = {form: first for first, *forms in map(str.split, _FORMS.split(";")) for form in forms}
