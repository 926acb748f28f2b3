"""The verbs of our lexicon, gathered by hand: how they are inflected, and which are nouns as well."""

# base, past and participle where it differs from the past
IRREGULAR = """
arise arose arisen,awake awoke awoken,babysit babysat,bear bore born,beat beat beaten,become became become,
begin began begun,bend bent,bet bet,bind bound,bite bit bitten,bleed bled,blow blew blown,break broke broken,
breed bred,bring brought,build built,burst burst,buy bought,catch caught,choose chose chosen,cling clung,
come came come,cost cost,creep crept,cut cut,deal dealt,dig dug,draw drew drawn,dream dreamt,drink drank drunk,
drive drove driven,eat ate eaten,fall fell fallen,feed fed,feel felt,fight fought,find found,fit fit,flee fled,
fly flew flown,forbid forbade forbidden,forget forgot forgotten,forgive forgave forgiven,freeze froze frozen,
get got gotten,give gave given,go went gone,grow grew grown,hang hung,hear heard,hide hid hidden,hit hit,hold held,
hurt hurt,keep kept,kneel knelt,know knew known,lay laid,lead led,lean leant,leap leapt,learn learnt,leave left,
lend lent,let let,lie lay lain,light lit,lose lost,make made,mean meant,meet met,mislead misled,misread misread,
mistake mistook mistaken,misunderstand misunderstood,outgrow outgrew outgrown,overcome overcame overcome,
overhear overheard,oversleep overslept,overthink overthought,pay paid,prove proved proven,put put,quit quit,
read read,rebuild rebuilt,redo redid redone,remake remade,repay repaid,reset reset,rethink rethought,
rewrite rewrote rewritten,ride rode ridden,ring rang rung,rise rose risen,run ran run,say said,see saw seen,
seek sought,sell sold,send sent,set set,sew sewed sewn,shake shook shaken,shed shed,shine shone,shoot shot,
show showed shown,shrink shrank shrunk,shut shut,sing sang sung,sink sank sunk,sit sat,sleep slept,slide slid,
smell smelt,sneak snuck,speak spoke spoken,speed sped,spell spelt,spend spent,spill spilt,spin spun,split split,
spread spread,spring sprang sprung,stand stood,steal stole stolen,stick stuck,sting stung,stink stank stunk,
strike struck,string strung,strive strove striven,sublet sublet,swear swore sworn,sweep swept,swell swelled swollen,
swim swam swum,swing swung,take took taken,teach taught,tear tore torn,tell told,think thought,throw threw thrown,
undergo underwent undergone,understand understood,undo undid undone,unwind unwound,uphold upheld,upset upset,
wake woke woken,wear wore worn,weave wove woven,weep wept,win won,wind wound,withdraw withdrew withdrawn,
withstand withstood,write wrote written
"""

# irregular verbs whose base is a noun or an adjective as well
IRREGULAR_NOUNS = """
beat bend bet bite blow break burst catch cost cut deal dream drink drive fall feed fight find fit fly hang hit hold
lay lead lie light mistake read ride ring rise run set shake shed shoot show shut sink slide smell speed spell spin
split spread spring stand stick sting strike string swing tear throw upset wake win wind
"""

# regular verbs that are hardly ever nouns
REGULAR = """
abandon absorb accept accommodate accompany accomplish accumulate achieve acknowledge acquire activate adapt add
adhere adjourn adjust administer admire admit adopt adore advance advertise advise affect afford agree allocate allow
alter amaze amuse analyze annotate announce annoy anticipate apologise apologize appear applaud apply appoint
appreciate approve argue arouse arrange arrive ascend ask assemble assert assess assign assist assume assure attach
attain attend attract attribute authorize automate avoid await awaken backpack bake bandage baptize bathe befriend beg
behave believe belong bestow blink blossom boast borrow bother brag brainstorm breathe broaden browse bury calculate
cancel captivate caress carry categorize cater celebrate certify cherish chew chill chop circulate cite clap clarify
classify cleanse clutter coincide collaborate collapse collect collide combine commemorate communicate commute compare
compete complain compose comprehend conceal conceive concentrate conclude condemn conduct confess confide confine
confirm conform confront confuse congratulate congregate connect conquer conserve consider consist construct consult
consume contain contemplate contend continue contradict contribute convene converse convert convey convince cooperate
cope correspond cram create criticize cuddle cultivate curate customize dazzle debug deceive decide decipher declare
declutter decorate decrease dedicate deepen defeat defend define delegate delete delight deliver delve demolish
demonstrate deny depart depend depict deploy deprive derive descend describe deserve destroy detect deteriorate
determine develop devise devote devour diagnose die differ diminish dine disagree disappear disappoint discard
disclose disconnect discourage discover discuss disguise dislike dislocate dismantle dismiss dispose disrupt dissolve
distinguish distract distribute disturb divide divorce dodge dominate donate download doze drown earn edit educate
elaborate elect elevate eliminate elope embark embarrass embody embrace embroider emerge emphasize employ empower
enable enact enchant encompass encounter encourage endure energize enforce engage engrave enhance enjoy enlarge
enlighten enlist enrich enrol enroll ensure entail enter entertain entice entrust envision equip erase erupt escalate
establish evaluate evoke evolve examine exceed excel excite exclaim exclude execute exert exhale exhaust exist expand
expect expel expire explain exploit explore expose express extend facilitate fail familiarize fascinate feature
ferment fetch fidget fill finalize fixate flatter flourish follow forage foresee foster frustrate fulfil fulfill
fundraise furnish gamble gather generate glide google graduate grieve grin grind growl guarantee happen harmonize hate
haul heighten hesitate hinder hire hitchhike hover humiliate hydrate identify ignore illustrate imagine immerse
immigrate implement impose impress improve improvise include indicate induce indulge inform inhale inherit initiate
inject injure innovate inquire insert insist inspect inspire install instill integrate intend intensify interact
interpret interrupt introduce invade invent invest investigate invite involve irritate isolate join jot justify kill
knead knit lament lengthen liberate lighten linger listen livestream locate loosen magnify maintain manage manipulate
marinate marry marvel maximize mediate meditate melt memorize mend mention merge mesmerise mesmerize migrate mimic
mingle minimize misplace mobilize moderate modify monitor motivate mow multiply munch narrate navigate neglect
negotiate nominate nourish nurture obey observe obsess obtain occupy occur offend omit operate oppose opt organise
organize originate overflow oversee overtake overwhelm owe pamper participate perceive perform persevere persist
persuade photograph pinpoint plead please ponder portray possess postpone praise pray preach precede predict prefer
prepare preserve presume pretend prevail prevent prioritise prioritize proceed proclaim procrastinate promote
pronounce proofread propose prosper protect provide prune publish puncture punish purchase pursue qualify quarrel
radiate react realise realize rearrange reassure recall receive recharge recite reckon reclaim recognise recognize
recommend reconcile reconnect reconsider recover recruit recuperate recycle redecorate redeem redesign reduce refer
refill refine reflect refrain refresh refurbish refuse regain register rehearse reinforce reinvent reject rejoice
rejoin relate relax relieve relocate rely remain remember remind reminisce remodel remove rename renew renovate
reorganize repair repeat replace replenish replicate represent reproduce require rescue resemble resent reserve reside
resign resist resolve resonate respond restart restore restrict resume resurface retain retell retire retrain retrieve
reunite reuse revamp reveal revise revisit revitalize revive revolve rinse roam rob rollerblade rotate rub ruin
rummage salvage sanitize satisfy save savor scare scatter scold scrub sculpt seem seize select serve settle shave
shiver shove shrug shuffle simmer simplify situate skydive slam smash snatch sniff snore snowboard snuggle soak soar
sob socialize soften solve sparkle specialise specialize specify speculate splurge squeeze stabilize stargaze startle
starve stimulate stir strategize streamline strengthen strum submit subscribe subside subtract succeed sue suffer
suggest suit summarize summon sunbathe supervise suppose suppress surpass surrender surround survive suspend sustain
swallow symbolise symbolize sympathize tackle tame tempt tend terminate terrify thank thaw thicken thrive tickle tidy
tighten tinker tolerate toss tow transcend transcribe transform translate transmit tremble trim triple tumble tutor
twirl unblock uncover underestimate undertake undress unfasten unfold unify unite unlock unpack unplug unravel unveil
unwrap upcycle upload utilize vaccinate validate vanish vary verify vibrate videotape violate visualize wag wander
want warn weaken weigh welcome weld whine whittle widen wield wiggle wipe wither wobble wrestle yearn yell yodel zip
"""

# verbs whose base is a noun as well, but whose third person is more often a verb
MOSTLY_VERB = """
act bark believe bring call care change cook cry end enjoy fear feel fight finish help hope keep laugh learn lie like
live look love make matter mean miss move need open plan play run seem sing sleep smile sound start stay stop study
swim talk taste teach travel try turn use visit wait walk wish wonder work worry
"""

# verbs whose base is a noun or an adjective as well
NOUN_TOO = """
access ace act address age aid aim answer appeal approach attack attempt award back balance ban bargain base battle
benefit bike binge blame blend blog bloom board boil bond book boost bounce bow bowl brew bruise brush budget bully
burn calm camp capture care cause challenge channel charge charm chase chat cheat check cheer claim clean clear click
climb close coach code color comb comfort command comment commit complete compliment compromise concern contact
contract control convert copy correct cough counsel count cover crack craft crash crave crawl crochet crop cross
cruise cure curse cycle damage dance dare date debate debut decline delay demand deposit design desire detail detox
diet dip direct display dive document doodle double doubt draft drag drain dress drift drill drop drum dry dump dust
dye ease echo email empty escape estimate exchange excuse exercise exhibit exit experience experiment express face
fade fan fancy farm fast feature file film fire fish fix flash flip float flood flow flush focus fold force forecast
form fracture frame fuel function fund gain garden gaze giggle glance glow glue golf gossip grab grade grant grasp
graze greet grill grip groom guess guide hammer handle harm harvest head heal heat highlight hike hop host house hug
hunt hurry hustle impact import increase influence insult interest interview iron issue jam jog joke journal judge
juggle jump kayak kick kiss knock label lack land last launch layer leak lecture lick lift limit link list load loan
lock log lounge lower mail major map march mark market master match mature measure mentor message milk mind minor mix
moan model mourn mulch murder nail name nap narrow network nod note notice nurse object offer orbit order outline own
pace pack paddle paint pair panic park part party pass paste patch pause pedal peel perfect pet phone photograph pick
picture pilot pin pinch pioneer pitch place plant plot plug plunge point polish pop pose post pour practice practise
present press print process produce profit program progress project promise propose protest pull pump punch push
puzzle quarrel question queue quilt quiz quote race rain raise rally range rank rap rate rave reach reason rebel
record reference refund regret relapse release remark rent reply report request research respect rest result retreat
return reverse review reward rip risk roar roast rock roll row rule rush sacrifice sail sample scan schedule scoop
score scratch scream screen scribble scroll seal search seat secure sense separate shape share shelter shift ship
shock shop shout shovel shower sigh sign signal sip skate sketch ski skip slap slice slip slow smoke snack snap sneeze
snorkel snow solo sort spare spark spice splash spoil sponsor spot sprain spray sprint sprout squash squat squeak
stage stain stamp star stare state steam step stitch stock store storm strain strap stream stress stretch strip stroke
stroll struggle stumble style substitute suggest supply support surf surprise survey suspect swap sweat switch tackle
tag tailor tap target tattoo team tease test text thank threaten thrill tick tie time tip tire toast touch tour trace
track trade trail train transfer transition transplant transport trap treat trek trick trigger trip triumph trot
trouble trust tug tune tutor tweet twist type update upgrade urge value vent venture view vlog voice volunteer vomit
vote vow waltz warm wash waste watch water wave welcome whip whisper whistle wink winter witness workout worship wound
wrap wreck yawn yield zoom
"""
