"""Words of which one excludes another in the same place: a letter from a sister is none from a brother.

A question that supposes something false often names such a word where the conversation has another of its kind. Each
line is a kind; "/" joins words that may stand for one another. Written by hand, of everyday things, from no data set.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ..text.terms import stem

_KINDS = """
mother/mom/mum/mama/mommy father/dad/papa/daddy brother sister son daughter uncle aunt nephew niece cousin
  husband wife
grandmother/grandma/granny grandfather/grandpa boyfriend girlfriend stepmother stepfather twin
boss/manager colleague/coworker landlord tenant neighbour/neighbor roommate/flatmate classmate teammate stranger
doctor/physician nurse dentist surgeon therapist/psychologist vet/veterinarian pharmacist teacher professor
  lawyer accountant engineer architect chef baker butcher plumber electrician carpenter farmer pilot mechanic
  hairdresser tailor journalist policeman firefighter soldier actor singer dancer painter photographer librarian
  waiter
red blue green yellow orange purple/violet pink black white brown grey/gray silver golden turquoise beige
spring summer autumn/fall winter
morning afternoon evening night noon midnight
breakfast lunch dinner/supper brunch
birthday wedding funeral graduation anniversary engagement christening divorce retirement
christmas easter halloween thanksgiving hanukkah ramadan diwali
dog/puppy/pup cat/kitten bird parrot fish/goldfish horse/pony snake turtle/tortoise hamster rabbit/bunny lizard
  goat sheep cow pig chicken/hen duck mouse rat frog bear wolf fox lion tiger elephant monkey whale shark dolphin
  bee butterfly spider
piano guitar violin cello drum flute saxophone trumpet harp clarinet ukulele accordion viola trombone banjo
  harmonica
football/soccer basketball baseball tennis golf hockey rugby cricket volleyball badminton boxing wrestling
  fencing karate
running/jogging swimming cycling/biking hiking climbing skiing snowboarding surfing skating rowing sailing yoga
  pilates kayaking diving fishing hunting archery bowling darts chess poker
painting drawing/sketch sculpture pottery/ceramics photography knitting sewing embroidery woodwork gardening
  cooking/baking
poem/poetry novel/book screenplay/script story song/music film/movie play comic blog podcast essay letter
  diary/journal
dance/ballet photo/photograph/picture video statue mural
comedy drama horror fantasy mystery/crime romance thriller documentary western
rock jazz classical pop folk blues opera metal punk techno country
car truck van bike/bicycle motorbike/motorcycle boat/ship bus train plane/flight tram scooter taxi helicopter
beach mountain forest/wood desert lake river island valley cave waterfall volcano canyon
city/town village suburb countryside
school college university kindergarten library museum gallery theatre/theater cinema church temple zoo aquarium
  hospital clinic airport station restaurant cafe bakery bar/pub gym park stadium market/supermarket hotel
house flat/apartment cottage cabin tent hostel castle barn garage shed mansion
kitchen bedroom bathroom cellar/basement attic garden balcony hallway office
apple pear banana lemon lime cherry plum peach grape strawberry raspberry blueberry mango pineapple melon
  coconut orange
carrot potato tomato onion cucumber pepper spinach cabbage broccoli mushroom lettuce aubergine/eggplant pumpkin
  bean pea
beef pork lamb chicken turkey ham bacon salmon tuna shrimp/prawn crab
cake pie bread cookie/biscuit pancake muffin soup salad pizza pasta curry sandwich burger pudding stew sushi
  taco lasagna
coffee tea beer wine juice water milk lemonade whisky/whiskey cocktail cocoa
sugar salt butter flour egg cheese honey oil cream yoghurt/yogurt jam vinegar
chocolate vanilla caramel cinnamon mint ginger
rose tulip lily daisy sunflower orchid daffodil lavender
oak pine birch maple willow beech cedar
wood metal glass clay stone plastic leather paper silk wool cotton
shirt/blouse dress skirt trousers/pants jacket/coat sweater/jumper shoe/sneaker boot sandal hat/cap scarf glove
  sock tie
ring necklace bracelet earring watch brooch
table chair sofa/couch bed desk shelf/bookcase lamp mirror carpet/rug curtain
phone laptop/computer tablet camera television/tv radio printer headphone console
head neck shoulder arm elbow wrist hand finger back hip leg knee ankle foot toe ear eye nose tooth
cancer diabetes asthma migraine flu/influenza pneumonia allergy arthritis depression anxiety
flood drought fire/wildfire storm/hurricane earthquake avalanche tornado
maths/mathematics physics chemistry biology history geography literature philosophy psychology economics law
  medicine
english french spanish german italian portuguese dutch greek russian chinese/mandarin japanese arabic hindi
  swedish
england/britain france spain italy germany portugal ireland scotland wales norway sweden denmark finland
  netherlands belgium austria switzerland poland greece turkey russia china japan korea india thailand vietnam
  australia canada mexico brazil argentina peru chile egypt morocco kenya america/usa
london paris rome madrid barcelona berlin vienna lisbon dublin amsterdam brussels prague athens oslo stockholm
  copenhagen tokyo beijing seoul delhi bangkok sydney toronto vancouver boston chicago seattle miami denver dallas
  york
asia europe africa antarctica
christian muslim jewish buddhist hindu atheist
buy/bought/purchase sell/sold rent borrow/lend/lent steal/stole donate inherit
start/begin/began/begun stop/quit/end finish/complete cancel postpone
love/enjoy/like/adore hate/dislike/detest
win/won/winner lose/lost/loser
arrive/come/came leave/left/depart
increase/rise/grew decrease/fall/drop
happy/joy/happiness/glad sad/sadness/unhappy angry/anger afraid/scared/fear proud ashamed
left right
north south east west
small/little/tiny large/big/huge
old new young
cheap/inexpensive expensive
public private
indoor/inside outdoor/outside
male/man/men/boy female/woman/women/girl
accept/approve refuse/reject/decline
remember forget/forgot
"""


def contrasted(asked: Iterable[str], said: Iterable[str]) -> dict[str, str]:
    """Return, for the stems asked about that have one, the stem of the same kind that is said in their place."""
    kinds = _kinds()
    spoken = {place: word for word in said for place in kinds.get(word, ())}
    other = {kind: word for (kind, _), word in spoken.items()}
    found = {}
    for word in asked:
        places = kinds.get(word, ())
        instead = next((other[kind] for kind, _ in places if kind in other), None)
        if instead is not None and not any(place in spoken for place in places):
            found[word] = instead
    return found


def synonyms(asked: str) -> frozenset[str]:
    """Return the stems that may stand for a stem of these kinds; none for one of two kinds, which means two things."""
    places = _kinds().get(asked, ())
    return _groups().get(places[0], frozenset()) if len(places) == 1 else frozenset()


@cache
def _groups() -> dict[tuple[int, int], frozenset[str]]:
    groups: dict[tuple[int, int], frozenset[str]] = {}
    for word, places in _kinds().items():
        for place in places:
            groups[place] = groups.get(place, frozenset()) | {word}
    return groups


@cache
def _kinds() -> dict[str, tuple[tuple[int, int], ...]]:
    """Return for each stem its kinds, and which word of the kind it is."""
    places: dict[str, tuple[tuple[int, int], ...]] = {}
    for kind, line in enumerate(_KINDS.replace("\n  ", " ").strip().splitlines()):
        for number, group in enumerate(line.split()):
            for word in group.split("/"):
                places[stem(word)] = (*places.get(stem(word), ()), (kind, number))
    return places
