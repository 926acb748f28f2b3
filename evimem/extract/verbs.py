"""English verbs: which words are forms of one, and the lemma of each form; a lexicon and rules of our own making."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

# base past participle; a missing participle equals the past
_IRREGULAR = """
arise arose arisen,bear bore born,awake awoke awoken,beat beat beaten,become became become,begin began begun,bend bent,bet bet,bind bound,
bite bit bitten,bleed bled,blow blew blown,break broke broken,breed bred,bring brought,build built,burst burst,buy bought,
catch caught,choose chose chosen,cling clung,come came come,cost cost,creep crept,cut cut,deal dealt,dig dug,draw drew drawn,
dream dreamt,drink drank drunk,drive drove driven,eat ate eaten,fall fell fallen,feed fed,feel felt,fight fought,find found,
fit fit,flee fled,fly flew flown,forget forgot forgotten,forgive forgave forgiven,freeze froze frozen,get got gotten,
give gave given,go went gone,grow grew grown,hang hung,hear heard,hide hid hidden,hit hit,hold held,hurt hurt,keep kept,
kneel knelt,know knew known,lay laid,lead led,lean leant,leap leapt,learn learnt,leave left,lend lent,let let,lie lay lain,
light lit,lose lost,make made,mean meant,meet met,mislead misled,misread misread,mistake mistook mistaken,
misunderstand misunderstood,outgrow outgrew outgrown,overcome overcame overcome,overhear overheard,oversleep overslept,
overthink overthought,pay paid,prove proved proven,put put,quit quit,read read,rebuild rebuilt,redo redid redone,
remake remade,repay repaid,reset reset,rethink rethought,rewrite rewrote rewritten,ride rode ridden,ring rang rung,
rise rose risen,run ran run,say said,see saw seen,seek sought,sell sold,send sent,set set,sew sewed sewn,shake shook shaken,
shed shed,shine shone,shoot shot,show showed shown,shrink shrank shrunk,shut shut,sing sang sung,sink sank sunk,sit sat,
sleep slept,slide slid,smell smelt,sneak snuck,speak spoke spoken,speed sped,spell spelt,spend spent,spill spilt,spin spun,
split split,spread spread,spring sprang sprung,stand stood,steal stole stolen,stick stuck,sting stung,stink stank stunk,
strike struck,string strung,strive strove striven,swear swore sworn,sweep swept,swell swelled swollen,swim swam swum,
swing swung,take took taken,teach taught,tear tore torn,tell told,think thought,throw threw thrown,undergo underwent undergone,
understand understood,undo undid undone,unwind unwound,uphold upheld,upset upset,wake woke woken,wear wore worn,
weave wove woven,weep wept,win won,wind wound,withdraw withdrew withdrawn,withstand withstood,write wrote written
"""

# regular verbs that are hardly ever nouns
_REGULAR = """
abandon absorb accept accommodate accompany accomplish achieve acknowledge acquire adapt add adjust admire admit adopt adore
advance advise affect afford agree allow amaze amuse analyze announce annoy anticipate apologize apologise appear applaud
apply appoint appreciate approve argue arrange arrive ask assemble assign assist assume assure attach attend attract avoid
bake beg behave believe belong blossom borrow bother breathe calculate cancel carry celebrate chill chop clarify classify
collaborate collapse collect combine communicate commute compare compete complain compose concentrate
conclude conduct confess confirm confuse congratulate connect conquer consider consist construct consult consume contain
continue contribute convert convince cooperate cope create cultivate customize decide declare declutter decorate
decrease dedicate defeat defend define delete delight delegate deliver demonstrate deny depart depend describe deserve destroy
detect determine develop devote diagnose die differ disagree disappear disappoint discover discuss dislike dismiss distract
divide divorce donate download drown earn edit educate elect eliminate embark embrace emerge emphasize employ empower
enable encounter encourage enhance enjoy enlist enroll enrol ensure enter entertain establish evaluate evolve examine exceed
excite exist expand expect explain explore expose express extend fail familiarize fascinate feature finalize fill foster
gather generate graduate guarantee happen hate hesitate hire ignore illustrate imagine implement impress improve include
indicate inform inherit injure inspect inspire install intend interact introduce invent invest investigate invite involve
irritate join justify kill knit listen locate maintain manage marry maximize meditate melt memorize mention merge migrate
minimize modify monitor motivate navigate negotiate nominate observe obtain occupy occur offend operate oppose organize
organise overwhelm participate perform persist persuade photograph plead ponder possess postpone praise pray prefer
prepare preserve pretend prevent prioritize proceed promote pronounce propose protect provide publish purchase pursue quarrel
qualify react realize realise rearrange reassure recall receive recharge recognize recognise recommend reconnect recover
recruit recycle redecorate redesign reduce refer refine reflect refuse regain register rehearse reject rejoin relate relax
relocate rely remain remember remind remodel remove rename renew renovate reorganize repair repeat replace represent require
rescue resemble reserve resign resist resolve respond restart restore resume retire retrieve retain reunite reveal revise
revisit revive ruin satisfy save scare scold seem select serve settle simplify soak socialize solve specialize
specialise strengthen submit subscribe succeed suffer suggest suit summarize supervise suppose surrender surround survive
sustain tackle tempt tend terrify thank thrive tidy tolerate transform translate trim tutor uncover unpack unite upload
utilize vaccinate vanish vary visualize wander want warn weigh welcome widen yell
activate adhere administer advertise allocate alter annotate arouse ascend assert assess attain attribute authorize automate await awaken
backpack bandage baptize bathe befriend bestow blink boast brag brainstorm broaden browse caress categorize cater certify cherish chew
circulate cite clap cleanse coincide collide commemorate comprehend conceal conceive condemn confide confine conform confront congregate
conserve contemplate contend contradict convene converse convey correspond cram criticize cuddle curate dazzle debug deceive decipher
deepen delve demolish depict deploy deprive derive descend deteriorate devise devour diminish discard disclose disconnect discourage
disguise dislocate dismantle dispose disrupt dissolve distinguish distribute disturb dodge dominate doze elaborate elevate elope embody
enact encompass endure energize enforce engage engrave enlarge enlighten enrich entail entice entrust envision equip erase erupt escalate
excel exclaim exclude execute exert exhale exhaust expire exploit facilitate fetch fidget flatter flourish foresee frustrate fulfill fulfil
fundraise furnish gamble glide google grieve grin grind growl haul heighten hinder hover hydrate immerse immigrate impose improvise induce
indulge inhale initiate inject innovate inquire insert integrate intensify interpret interrupt invade isolate jot knead lament lengthen
liberate lighten linger livestream loosen magnify manipulate marvel mediate mend mesmerize mimic mingle misplace mobilize multiply munch
narrate neglect nourish nurture obsess omit opt originate oversee overtake owe perceive persevere pinpoint portray preach precede predict
presume prevail proclaim procrastinate proofread prosper recite reclaim reconcile reconsider recuperate redeem refill refrain refresh
refurbish reinforce reinvent rejoice relieve reminisce replenish replicate reproduce resent reside resonate restrict resurface retell
retrain revamp revolve rinse roam rotate rummage salvage sanitize savor scatter scrub sculpt seize shave shiver shove shrug shuffle simmer
situate skydive slam smash snatch sniff snore snuggle soar sob soften specify speculate splurge stabilize startle starve stimulate stir
streamline strum subside subtract sue summon suppress surpass suspend swallow symbolize sympathize terminate thaw thicken tickle tighten
tinker tow toss transcend transcribe transmit triple tumble twirl unblock underestimate undertake unfold unify unlock unplug unravel unveil
unwrap upcycle validate verify vibrate videotape violate wag weaken whine widen wiggle wipe wither wobble wrestle yearn accumulate adjourn
captivate clutter enchant evoke fixate foster instill mesmerise overflow pamper prioritise radiate revitalize strategize symbolise
wield zip
"""

# verbs whose base is a noun as well, used as a verb more often than not in the third person
_MOSTLY_VERB = """
love live need like help look play start stop stay move try talk turn wait walk visit cook plan call hope wish worry wonder
learn miss use care feel mean fear believe bring seem keep enjoy teach work study travel smile laugh cry change finish
open act end matter sound taste bark run sleep lie fight sing swim make
"""

# verbs whose base is a noun (or an adjective) as well
_NOUN_TOO = """
access ace clean close complete correct separate own act address age aid aim answer approach attack attempt award back balance ban battle benefit bike blame blend blog
board boil bond book boost bowl brew brush budget bully burn calm camp care cause challenge charge chase chat check cheer
claim clear climb coach code color comfort comment commit compliment concern contact contract control convert copy cough count
cover crack craft crash crave crawl crochet crop cross cruise cure curse cycle damage dance dare date debate debut decline delay
demand deposit design desire detail diet direct display document doubt draft drag dress drop dry dump dust ease echo email
escape estimate exchange excuse exercise exhibit experience experiment express face fade fan farm fast feature file film fish
fix flip float flood flow focus fold force form frame function fund garden glance glow grab grade grant graze greet grill guess
guide handle harm harvest head heal heat hike host house hug hunt hurry impact increase influence interest interview issue
jam jog joke journal judge juggle jump kick kiss knock label lack land last launch lift limit link list load loan lock mail
major map march mark market master match measure mentor message mind minor mix model mourn murder nail name nap network note
notice nurse offer orbit order pack paint pair panic park part party pass pause peel phone pick picture pin place plant plot
plug point polish pop pose post pour practice practise press print process produce profit program progress project promise
propose protest pull pump punch push quarrel question queue quiz quote race rain raise range rank rate reach reason record
reference refund regret release rent reply report request research respect rest result retreat return review reward risk roast
rock roll row rule rush sacrifice sail sample schedule score scratch scream screen search seat sense shape share shift ship
shock shop sigh sign signal sip skate sketch ski skip slip slow smoke snack snap sneeze snow solo sort spark spoil sponsor spot
stage star stare state steam step stitch store storm stream stress stretch stroll struggle stumble style suggest supply
support surf surprise survey suspect swap switch tag tap target tattoo team tease test text thank threaten tie time tip toast
touch tour track trade trail train transfer transport trap treat trek trick trip trouble trust tweet twist type update
upgrade value view voice volunteer vote warm wash waste watch water wave whisper winter witness workout wrap yield zoom
appeal bargain battle bloom boost bruise capture charm channel click comb compromise counsel craft dip dive doodle double drain drift
drill exit flush forecast fracture fuel gain gaze giggle glue gossip grasp grip groom hammer highlight hop hustle import insult kayak
layer leak log lounge lower mature milk narrow nod object outline pace paddle paste patch pedal perfect pet pilot pioneer pitch
plunge puzzle rally rebel relapse remark reverse rip roar scan scoop scribble scroll seal secure shelter shovel slice snorkel spice
splash sprain spray sprint sprout squat stain strain strap strip stroke substitute sweat tailor thrill tire transition transplant
trigger triumph tune urge vent venture vomit vow waltz welcome whistle wink worship wound wreck yawn juggle binge stock
trek spice raise shock spark photograph snap doubt tackle tutor
"""

_BE_DO_HAVE = {
    **dict.fromkeys("be am is are was were been being 'm 're".split(), "be"),
    **dict.fromkeys("have has had having 've".split(), "have"),
    **dict.fromkeys("do does did done doing".split(), "do"),
}
_VOWELS = frozenset("aeiou")
_NOT_DOUBLED = frozenset("wxy")
# final consonants of these longer verbs double, because their last syllable is stressed
_DOUBLED = frozenset("admit begin commit control occur prefer refer regret upset forget compel permit submit transfer patrol".split())
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def _doubles(base: str) -> bool:
    if len(base) < 3 or base[-1] in _VOWELS or base[-1] in _NOT_DOUBLED or base[-2] not in _VOWELS:
        return False
    if base in _DOUBLED:
        return True
    return base[-3] not in _VOWELS and sum(letter in _VOWELS for letter in base) == 1


def third_person(base: str) -> str:
    """Return the form that "she" takes: go -> goes, try -> tries."""
    if base in ("be", "have"):
        return "is" if base == "be" else "has"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(_SIBILANT) else "s")


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    return base + (base[-1] if _doubles(base) else "") + "ed"


def gerund(base: str) -> str:
    """Return the -ing form: make -> making, lie -> lying."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return base + (base[-1] if _doubles(base) else "") + "ing"


# A form's tag, read by evimem.extract.tags: v base, w base or noun, Z third person, z third person or plural noun,
# f past, k past or participle, p participle only, g -ing.
TAGS: dict[str, str] = {}
LEMMAS: dict[str, str] = {}


def _enter(form: str, base: str, tag: str) -> None:
    LEMMAS.setdefault(form, base)
    TAGS.setdefault(form, tag)


def _lexicon() -> Iterator[tuple[str, str | None, str | None]]:
    for entry in _IRREGULAR.replace("\n", "").split(","):
        base, past, *rest = entry.split()
        yield base, past, rest[0] if rest else past
    for base in (_MOSTLY_VERB + _NOUN_TOO + _REGULAR).split():
        yield base, None, None


def _build() -> None:
    mostly, nouns = frozenset(_MOSTLY_VERB.split()), frozenset((_MOSTLY_VERB + _NOUN_TOO).split())
    irregular_nouns = frozenset(
        "beat bend bet bite blow break burst catch cost cut deal dream drink drive fall feed fight find fit fly hang hit hold "
        "hurt lay lead lie light read ride ring rise run set shake shed shoot show shut sink slide smell speed spell spin "
        "split spread spring stand stick sting strike string swing tear throw wake win wind upset".split()
    )
    for base, past, participle in _lexicon():
        noun = base in nouns or base in irregular_nouns
        _enter(base, base, "k" if base == past else "w" if noun else "v")
        _enter(third_person(base), base, "Z" if base in mostly or not noun else "z")
        _enter(gerund(base), base, "g")
        if past is None or past == participle:
            _enter(past or _past(base), base, "k")
        else:
            _enter(past, base, "f")
            _enter(participle or past, base, "p")
        if past is not None and past.endswith("t") and base + "ed" != past:
            _enter(_past(base), base, "k")  # learnt and learned


_build()
LEMMAS.update(_BE_DO_HAVE)
LEMMAS.update({"found": "find", "saw": "see", "left": "leave", "felt": "feel", "wound": "wind", "gon": "go", "wan": "want"})
TAGS.update({"found": "k", "saw": "f", "left": "k", "felt": "k", "lay": "f", "been": "b", "gon": "g", "wan": "v", "like": "L"})


@lru_cache(maxsize=4096)
def lemma(word: str) -> str:
    """Return the base of a verb form in lower case: relocated -> relocate, tries -> try; other words are kept."""
    known = LEMMAS.get(word)
    if known is not None:
        return known
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            return _restore(word[: -len(suffix)])
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        return word[:-1]
    return word


def _restore(stem: str) -> str:
    """Undo what -ed and -ing do to an unknown base: stopp -> stop, upcycl -> upcycle."""
    if stem[-1] == stem[-2:-1] and stem[-1] not in "lsz" and stem[-1] not in _VOWELS:
        return stem[:-1]
    if stem.endswith(("at", "iz", "is", "ur", "v", "c", "s", "z", "u")) and not stem.endswith("ss"):
        return stem + "e"
    if len(stem) > 2 and stem[-1] in "lr" and stem[-2] not in _VOWELS and stem[-2] not in "lr":
        return stem + "e"
    if len(stem) == 3 and stem[-2] in _VOWELS and stem[-1] not in _VOWELS and stem[-1] not in _NOT_DOUBLED:
        return stem + "e"  # hop-ed would have doubled
    return stem
